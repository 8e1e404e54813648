import { topupProgram } from '../topup/program.js';

/** Commands of `topup` with their subcommands. */
export type TopupCommands = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads the commands from the CLI program. */
export function topupCommands(): TopupCommands {
  return new Map(
    topupProgram().commands.map((command) => [
      command.name(),
      new Set(command.commands.map((subcommand) => subcommand.name())),
    ]),
  );
}
