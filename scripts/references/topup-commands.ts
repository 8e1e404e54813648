import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';

/** Commands of `topup`, each with its subcommands. */
export type TopupCommands = ReadonlyMap<string, ReadonlySet<string>>;

type Register = (program: Command) => void;

/** As the files of scripts/topup register them; nothing of the service is loaded for that. */
export async function topupCommands(): Promise<TopupCommands> {
  const program = new Command();
  const directory = fileURLToPath(new URL('../topup/', import.meta.url));
  for (const file of fs.readdirSync(directory).filter((each) => /\.(?:ts|js)$/.test(each))) {
    const exported = (await import(new URL(`../topup/${file}`, import.meta.url).href)) as object;
    for (const [name, value] of Object.entries(exported)) {
      if (/^register[A-Z]/.test(name)) {
        (value as Register)(program);
      }
    }
  }
  return new Map(
    program.commands.map((command) => [
      command.name(),
      new Set(command.commands.map((subcommand) => subcommand.name())),
    ]),
  );
}
