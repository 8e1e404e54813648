import type { Command } from 'commander';
import type { ChangedBy } from '../../src/audit/record-audit.js';
import type { AnyConsoleOperation, ConsoleCall } from '../../src/console/api/console-operation.js';
import { defineCommand, type CommandCall, type CommandSpec } from './define-command.js';
import type { Output } from './print.js';
import { UsageError } from './usage-error.js';

export interface OperationCommandSpec<Options, Answer> extends Omit<CommandSpec<Options>, 'run'> {
  /** Loads the operation when the command runs, because its module reads the configuration. */
  operation: (call: CommandCall<Options>) => Promise<AnyConsoleOperation<Answer>>;
  /**
   * Fields of the input that differ in name or value from the arguments and options. Undefined
   * removes a field.
   */
  input?: (call: CommandCall<Options>) => Record<string, unknown>;
  output: (answer: Answer, call: CommandCall<Options>) => Output | Promise<Output>;
}

/**
 * Defines a command that runs a console operation in this process. Each argument or option sets the
 * field with its name, so `--below-cost` sets `below_cost`.
 */
export function defineOperationCommand<Options = object, Answer = unknown>(
  parent: Command,
  { operation, input, output, ...spec }: OperationCommandSpec<Options, Answer>,
): void {
  defineCommand<Options>(parent, {
    ...spec,
    async run(call) {
      const { as: _actor, json: _json, ...options } = call.options as Record<string, unknown>;
      const named = Object.entries(options).map(([name, value]) => [snakeCase(name), value] as const);
      const fields: Record<string, unknown> = {
        ...call.fields,
        ...Object.fromEntries(named),
        ...input?.(call),
      };
      const found = await operation(call);
      if (found.action !== spec.action) {
        throw new Error(
          `${spec.usage} needs the right ${spec.action}, but ${found.id} needs ${found.action}`,
        );
      }
      return output(await runOperation(found, fields, call.by), call);
    },
  });
}

/** @throws UsageError if the operation's schemas refuse the input. */
export async function runOperation<Answer>(
  operation: AnyConsoleOperation<Answer>,
  fields: Record<string, unknown>,
  by: ChangedBy,
): Promise<Answer> {
  const [{ validate }, { getInputLimits }, { ValidationError }] = await Promise.all([
    import('../../src/api/contract/validate.js'),
    import('../../src/api/contract/input-limits.js'),
    import('../../src/shared/errors.js'),
  ]);
  const { limit, ...given } = Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  );
  const schemas = [operation.params, operation.query, operation.body];
  const known = schemas.flatMap((schema) => {
    const bounds = schema && getInputLimits(schema);
    return bounds?.kind === 'object' ? [...bounds.fields.keys()] : [];
  });
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`${operation.id} does not accept ${unknown.join(', ')}`);
  }
  const checked = (schema: (typeof schemas)[number]): object => {
    try {
      return schema === undefined ? {} : validate<object>(schema, given);
    } catch (error) {
      throw error instanceof ValidationError ? new UsageError(error.message) : error;
    }
  };
  const [params, query, body] = schemas.map(checked);
  // A console page has at most 100 rows. The command has already checked its own --limit.
  const call = { params, query: limit === undefined ? query : { ...query, limit }, body, by };
  // There is no browser or session here. Operations that need one have no command.
  return operation.handle(call as unknown as ConsoleCall<never, never, never>);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
