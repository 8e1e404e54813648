import type { Command, Option } from 'commander';
import { rightTo, type OperatorAction } from '../../src/operators/rights.js';
import { actorOf } from './acting-operator.js';
import { asOption } from './options.js';
import { printFailure, printOutput, type Output } from './print.js';
import { withService } from './with-service.js';

export interface CommandCall<Options> {
  /** The value of `<name>` or `[name]`; an empty string where an optional one was left out. */
  arg: (name: string) => string;
  /** Those of `<name...>`. */
  args: (name: string) => string[];
  /** The arguments that were given, by their names. */
  fields: Record<string, string | string[]>;
  options: Options;
  /** For the audit log: who does it, from where, and why (--reason, where the command has it). */
  by: { actor: string; from: null; reason: string | null };
}

export interface CommandSpec<Options> {
  /** As commander has it: `suspend <username>`. */
  usage: string;
  /** Its row in the table of rights. */
  action: OperatorAction;
  /** What its group does where no other command of it is named. */
  isDefault?: boolean;
  /** One line for the list of commands. */
  summary: string;
  /** What it does beyond that, and what not. */
  details?: string;
  /** Without the leading `topup`. */
  examples: string[];
  options?: Option[];
  /** False: runs without the service's databases. Default: MongoDB must answer, Redis is connected if it does. */
  needsService?: boolean;
  /** Runs though MongoDB does not answer: `doctor` says so itself. */
  toleratesOutage?: boolean;
  run(call: CommandCall<Options>): Promise<Output>;
}

/**
 * Adds a command with --json, --help with examples, connections, and exit codes (0 done, 1 not done or a check
 * failed, 2 wrong usage). `run` imports what it needs of src/ itself, because configuration is read at import.
 */
export function defineCommand<Options = object>(parent: Command, spec: CommandSpec<Options>): void {
  const command = parent
    .command(spec.usage, { isDefault: spec.isDefault === true })
    .summary(spec.summary)
    .description(spec.details ? `${spec.summary}.\n\n${spec.details}` : `${spec.summary}.`)
    .option('--json', 'print JSON, for programs')
    .addHelpText(
      'after',
      `\nExamples:\n${spec.examples.map((each) => `  npm run topup -- ${each}`).join('\n')}`,
    );
  const own = spec.options ?? [];
  // A command whose --as means something else goes by the operator key alone.
  const namesActor = rightTo(spec.action).kind === 'change' && !own.some(({ long }) => long === '--as');
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
          fields: givenArguments(command),
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

/** The row of a command in the table of rights; null for a group, which does nothing. */
export function actionOf(command: Command): OperatorAction | null {
  return actions.get(command) ?? null;
}

/** A group such as `account`, which only holds commands. */
export function defineGroup(program: Command, name: string, summary: string): Command {
  return program.command(name).summary(summary).description(`${summary}.`);
}

function givenArguments(command: Command): Record<string, string | string[]> {
  const names = command.registeredArguments.map((each) => each.name());
  const given = names.map((name) => [name, argumentOf(command, name)] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== ''));
}

function argumentOf(command: Command, name: string): string | string[] {
  const index = command.registeredArguments.findIndex((each) => each.name() === name);
  if (index < 0) {
    throw new Error(`The command has no argument ${name}`);
  }
  const value: unknown = command.processedArgs[index];
  return Array.isArray(value) ? value.map(String) : typeof value === 'string' ? value : '';
}
