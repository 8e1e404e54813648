import type { Command } from 'commander';
import type { ChangedBy } from '../../src/audit/record-audit.js';
import type { AnyConsoleOperation, ConsoleCall } from '../../src/console/api/console-operation.js';
import { defineCommand, type CommandCall, type CommandSpec } from './define-command.js';
import type { Output } from './print.js';
import { UsageError } from './usage-error.js';

export interface OperationCommandSpec<Options, Answer> extends Omit<CommandSpec<Options>, 'run'> {
  /** Loaded when the command runs, because its module reads the configuration. */
  operation: (call: CommandCall<Options>) => Promise<AnyConsoleOperation<Answer>>;
  /** Fields whose name is not that of an argument or option, or whose value differs. Undefined leaves one out. */
  input?: (call: CommandCall<Options>) => Record<string, unknown>;
  output: (answer: Answer, call: CommandCall<Options>) => Output | Promise<Output>;
}

/**
 * A command that runs an operation of the console in this process. An argument or option gives the field of its name:
 * `--below-cost` gives `below_cost`.
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
          `${spec.usage} asks for the right to ${spec.action}, ${found.id} for ${found.action}`,
        );
      }
      return output(await runOperation(found, fields, call.by), call);
    },
  });
}

/** @throws UsageError where the schemas of the operation refuse the input. */
export async function runOperation<Answer>(
  operation: AnyConsoleOperation<Answer>,
  fields: Record<string, unknown>,
  by: ChangedBy,
): Promise<Answer> {
  const [{ validate }, { boundsOf }, { ValidationError }] = await Promise.all([
    import('../../src/api/validate.js'),
    import('../../src/api/bounds.js'),
    import('../../src/shared/errors.js'),
  ]);
  const { limit, ...given } = Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  );
  const schemas = [operation.params, operation.query, operation.body];
  const known = schemas.flatMap((schema) => {
    const bounds = schema && boundsOf(schema);
    return bounds?.kind === 'object' ? [...bounds.fields.keys()] : [];
  });
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`${operation.id} takes no ${unknown.join(', ')}`);
  }
  const checked = (schema: (typeof schemas)[number]): object => {
    try {
      return schema === undefined ? {} : validate<object>(schema, given);
    } catch (error) {
      throw error instanceof ValidationError ? new UsageError(error.message) : error;
    }
  };
  const [params, query, body] = schemas.map(checked);
  // A page of the console has at most 100 rows; a command has checked its own --limit.
  const call = { params, query: limit === undefined ? query : { ...query, limit }, body, by };
  // Neither a browser nor a session is here: operations that need one have no command.
  return operation.handle(call as unknown as ConsoleCall<never, never, never>);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
