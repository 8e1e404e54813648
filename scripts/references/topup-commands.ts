import { topupProgram } from '../topup/program.js';

/** Commands of `topup`, each with its subcommands. */
export type TopupCommands = ReadonlyMap<string, ReadonlySet<string>>;

/** As the operator's command line has them. */
export function topupCommands(): TopupCommands {
  return new Map(
    topupProgram().commands.map((command) => [
      command.name(),
      new Set(command.commands.map((subcommand) => subcommand.name())),
    ]),
  );
}
