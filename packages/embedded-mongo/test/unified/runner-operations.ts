import type { ClientSession, Document, MongoClient } from 'mongodb';
import { eventually } from '../harness.js';
import type { EntityDefinition } from './cases.js';
import type { Entities, SeenEvent } from './entities.js';
import { match, Mismatch, type MatchContext } from './match.js';

interface CaseContext {
  entities: Entities;
  admin: MongoClient;
}

type RunnerCall = (args: Document, stage: CaseContext) => unknown;

const CALLS: Readonly<Record<string, RunnerCall>> = {
  createEntities: (args, { entities }) => entities.create(args['entities'] as EntityDefinition[]),
  failPoint: ({ client, failPoint }, { entities }) =>
    entities.get<MongoClient>(client).db('admin').command(failPoint),
  assertSessionTransactionState: ({ session, state }, { entities }) => {
    const { transaction } = entities.get<ClientSession>(session) as unknown as Document;
    demand(
      STATES[String(transaction.state)] === state,
      `the transaction is ${transaction.state}, not ${state}`,
    );
  },
  assertSessionUnpinned: ({ session }, { entities }) =>
    demand(!entities.get<ClientSession>(session).isPinned, `${session} is pinned`),
  assertSessionDirty: ({ session }, { entities }) =>
    demand(isDirty(entities, session), `${session} is not dirty`),
  assertSessionNotDirty: ({ session }, { entities }) =>
    demand(!isDirty(entities, session), `${session} is dirty`),
  assertSameLsidOnLastTwoCommands: ({ client }, { entities }) => {
    const [last, before] = lastTwoSessions(client, entities);
    match(before, last, contextOf(entities, 'the last two sessions'));
  },
  assertDifferentLsidOnLastTwoCommands: ({ client }, { entities }) => {
    const [last, before] = lastTwoSessions(client, entities);
    demand(JSON.stringify(last) !== JSON.stringify(before), 'the last two commands have the same session');
  },
  assertCollectionExists: async (args, stage) =>
    demand(await hasCollection(args, stage), 'the collection does not exist'),
  assertCollectionNotExists: async (args, stage) =>
    demand(!(await hasCollection(args, stage)), 'the collection exists'),
  assertIndexExists: async (args, stage) => demand(await hasIndex(args, stage), 'the index does not exist'),
  assertIndexNotExists: async (args, stage) => demand(!(await hasIndex(args, stage)), 'the index exists'),
  waitForEvent: async ({ client, event, count }, { entities }) => {
    const [name, fields] = Object.entries(event as Document)[0] ?? ['', {}];
    const isMeant = (seen: SeenEvent): boolean => seen.name === name && isLike(fields, seen.event, entities);
    await eventually(() => entities.eventsOf(client).filter(isMeant).length >= count, 10_000);
  },
};

/** True if the runner supports this operation of the test format itself. */
export function isRunnerCall(name: string): boolean {
  return Object.hasOwn(CALLS, name);
}

/** Runs an operation that belongs to the test format and not to the driver. */
export async function callRunner(name: string, args: Document, stage: CaseContext): Promise<void> {
  await CALLS[name]?.(args, stage);
}

const STATES: Readonly<Record<string, string>> = {
  NO_TRANSACTION: 'none',
  STARTING_TRANSACTION: 'starting',
  TRANSACTION_IN_PROGRESS: 'in_progress',
  TRANSACTION_COMMITTED: 'committed',
  TRANSACTION_COMMITTED_EMPTY: 'committed',
  TRANSACTION_ABORTED: 'aborted',
};

function demand(holds: boolean, otherwise: string): void {
  if (!holds) {
    throw new Mismatch(otherwise);
  }
}

function contextOf(entities: Entities, path: string): MatchContext {
  return { entities, path, isRoot: true };
}

function isDirty(entities: Entities, session: string): boolean {
  return entities.get<ClientSession>(session).serverSession.isDirty;
}

function isLike(expected: unknown, actual: unknown, entities: Entities): boolean {
  try {
    match(expected, actual, contextOf(entities, ''));
    return true;
  } catch {
    return false;
  }
}

function lastTwoSessions(client: string, entities: Entities): [unknown, unknown] {
  const started = entities.eventsOf(client).filter(({ name }) => name === 'commandStartedEvent');
  const idOf = (seen: SeenEvent | undefined): unknown => seen?.event['command'].lsid;
  return [idOf(started.at(-1)), idOf(started.at(-2))];
}

async function hasCollection(
  { databaseName, collectionName }: Document,
  { admin }: CaseContext,
): Promise<boolean> {
  return (await admin.db(databaseName).listCollections({ name: collectionName }).toArray()).length > 0;
}

async function hasIndex(args: Document, stage: CaseContext): Promise<boolean> {
  if (!(await hasCollection(args, stage))) {
    return false;
  }
  const { databaseName, collectionName, indexName } = args;
  return stage.admin.db(databaseName).collection(collectionName).indexExists(indexName);
}
