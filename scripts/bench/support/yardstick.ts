import type { Db } from 'mongodb';
import { startHelper, type Bench } from './bench.js';
import type { RunningProcess } from './start-process.js';

export type Server = 'bare' | 'naive' | 'ours';

/** Starts a server to compare ours with, on a database of its own. */
export function startYardstick(
  bench: Bench,
  name: 'bare' | 'naive',
  buyersFile: string,
): Promise<RunningProcess> {
  return startHelper('web', `serve-${name}`, yardstickArgs(bench, name, buyersFile));
}

/** What every process of a yardstick is told: its database, its prefix in Redis, its buyers. */
export function yardstickArgs(bench: Bench, name: 'bare' | 'naive', buyersFile: string): string[] {
  return [bench.yardstickUri(name), bench.yardstickPrefix(name), buyersFile];
}

/** The database in which a server keeps its books. */
export function booksOf({ client, db }: Bench, name: Server): Db {
  return name === 'ours' ? db : client.db(`${db.databaseName}_${name}`);
}
