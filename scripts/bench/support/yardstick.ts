import type { Db } from 'mongodb';
import { startHelper, type Bench } from './bench.js';
import type { RunningProcess } from './start-process.js';

export type Server = 'bare' | 'naive' | 'ours';

/** Starts a yardstick server on its own database. */
export function startYardstick(
  bench: Bench,
  name: 'bare' | 'naive',
  buyersFile: string,
): Promise<RunningProcess> {
  return startHelper('web', `serve-${name}`, yardstickArgs(bench, name, buyersFile));
}

/** Arguments of every yardstick process: database, Redis prefix and buyers file. */
export function yardstickArgs(bench: Bench, name: 'bare' | 'naive', buyersFile: string): string[] {
  return [bench.yardstickUri(name), bench.yardstickPrefix(name), buyersFile];
}

/** Returns the database that holds the purchases of a server. */
export function booksOf({ client, db }: Bench, name: Server): Db {
  return name === 'ours' ? db : client.db(`${db.databaseName}_${name}`);
}
