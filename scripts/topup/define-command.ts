import type { Command, Option } from 'commander';
import { getRight, type OperatorAction } from '../../src/operators/rights.js';
import { actorOf } from './acting-operator.js';
import { asOption } from './options.js';
import { printFailure, printOutput, type Output } from './print.js';
import { withService } from './with-service.js';

export interface CommandCall<Options> {
  /** Returns the value of `<name>` or `[name]`. Empty if an optional argument is absent. */
  arg: (name: string) => string;
  /** Returns the values of `<name...>`. */
  args: (name: string) => string[];
  /** The given arguments by name. */
  fields: Record<string, string | string[]>;
  options: Options;
  /**
   * Actor, origin and reason for the audit log. The reason comes from --reason, if the command has
   * this option.
   */
  by: { actor: string; from: null; reason: string | null };
}

export interface CommandSpec<Options> {
  /** Usage in commander's syntax, such as `suspend <username>`. */
  usage: string;
  /** The action of the command in the table of rights. */
  action: OperatorAction;
  /** True if the group runs this command when no subcommand is given. */
  isDefault?: boolean;
  /** One line for the list of commands. */
  summary: string;
  /** Further effects and limits. */
  details?: string;
  /** Examples without the leading `topup`. */
  examples: string[];
  options?: Option[];
  /**
   * False if the command runs without the service's databases. By default MongoDB must respond, and
   * Redis is connected if available.
   */
  needsService?: boolean;
  /** True if the command runs while MongoDB is down. `doctor` reports such an outage itself. */
  toleratesOutage?: boolean;
  run(call: CommandCall<Options>): Promise<Output>;
}

/**
 * Adds a command with --json, --help with examples, connections, and exit codes: 0 for done, 1 for
 * not done or a failed check, 2 for wrong usage. `run` must import from src/ lazily, because
 * importing src/ reads the configuration.
 */
export function defineCommand<Options = object>(parent: Command, spec: CommandSpec<Options>): void {
  const command = parent
    .command(spec.usage, { isDefault: spec.isDefault === true })
    .summary(spec.summary)
    .description(spec.details ? `${spec.summary}.\n\n${spec.details}` : `${spec.summary}.`)
    .option('--json', 'print JSON for programs')
    .addHelpText(
      'after',
      `\nExamples:\n${spec.examples.map((each) => `  npm run topup -- ${each}`).join('\n')}`,
    );
  const own = spec.options ?? [];
  // If --as has another meaning in a command, the operator must use a key.
  const namesActor = getRight(spec.action).kind === 'change' && !own.some(({ long }) => long === '--as');
  for (const option of [...own, ...(namesActor ? [asOption()] : [])]) {
    command.addOption(option);
  }
  actions.set(command, spec.action);
  command.action(async () => {
    const options: Options & { json?: boolean; reason?: string; as?: string } = command.opts();
    const json = options.json === true;
    try {
      const run = async () => {
        const as = namesActor ? options.as : undefined;
        const toleratesOutage = spec.toleratesOutage === true;
        const actor =
          spec.needsService === false ? '' : await actorOf({ action: spec.action, as, toleratesOutage });
        return spec.run({
          arg: (name) => [argumentOf(command, name)].flat()[0] ?? '',
          args: (name) => [argumentOf(command, name)].flat(),
          fields: readArguments(command),
          options,
          by: { actor, from: null, reason: options.reason ?? null },
        });
      };
      const output = await (spec.needsService === false
        ? run()
        : withService(run, spec.toleratesOutage === true));
      printOutput(output, json);
      process.exitCode = output.failed ? 1 : 0;
    } catch (error) {
      process.exitCode = await printFailure(error, json);
    }
  });
}

const actions = new WeakMap<Command, OperatorAction>();

/** Returns the action of a command in the table of rights. Null for a group. */
export function actionOf(command: Command): OperatorAction | null {
  return actions.get(command) ?? null;
}

/** Adds a group such as `account` that only contains commands. */
export function defineGroup(program: Command, name: string, summary: string): Command {
  return program.command(name).summary(summary).description(`${summary}.`);
}

function readArguments(command: Command): Record<string, string | string[]> {
  const names = command.registeredArguments.map((each) => each.name());
  const entries = names.map((name) => [name, argumentOf(command, name)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

function argumentOf(command: Command, name: string): string | string[] {
  const index = command.registeredArguments.findIndex((each) => each.name() === name);
  if (index < 0) {
    throw new Error(`The command has no argument ${name}`);
  }
  const value: unknown = command.processedArgs[index];
  return Array.isArray(value) ? value.map(String) : typeof value === 'string' ? value : '';
}
