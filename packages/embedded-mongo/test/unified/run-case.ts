import { setTimeout as wait } from 'node:timers/promises';
import {
  MongoServerError,
  ReadPreference,
  type ClientSession,
  type Document,
  type MongoClient,
} from 'mongodb';
import type { Case, CaseFile, CollectionData, ExpectedEvents, Operation } from './cases.js';
import { checkError } from './check-error.js';
import { toSpecifiedForm } from './driver-quirks.js';
import { Entities } from './entities.js';
import { match, Mismatch, show } from './match.js';
import { callDriver } from './operations.js';
import { callRunner } from './runner-operations.js';

const LIMIT_MS = 30_000;
/** Failpoints that a case may have left enabled. */
const FAIL_POINTS = ['failCommand', 'onPrimaryTransactionalWrite'];

/** The environment in which a case runs. */
export interface Surroundings {
  uri: string;
  /** The client that the runner itself uses. */
  admin: MongoClient;
}

/**
 * Runs one case: inserts its data, runs its operations and checks the outcome.
 * @throws Mismatch if a value differs from the expectation. Other differences throw other errors.
 */
export async function runCase(file: CaseFile, test: Case, { uri, admin }: Surroundings): Promise<void> {
  const entities = new Entities(uri);
  const stop = new AbortController();
  try {
    await Promise.race([
      play(file, test, { entities, admin }),
      wait(LIMIT_MS, undefined, { signal: stop.signal }).then(() => {
        throw new Mismatch(`timed out after ${LIMIT_MS} ms`);
      }),
    ]);
  } finally {
    stop.abort();
    for (const configureFailPoint of FAIL_POINTS) {
      await admin.db('admin').command({ configureFailPoint, mode: 'off' });
    }
    await admin.db('admin').command({ killAllSessions: [] });
    await entities.close();
  }
}

interface CaseContext {
  entities: Entities;
  admin: MongoClient;
}

async function play(file: CaseFile, test: Case, stage: CaseContext): Promise<void> {
  const { entities, admin } = stage;
  for (const data of file.initialData ?? []) {
    await prepare(admin, data);
  }
  entities.create(file.createEntities ?? []);
  await runOperations(test.operations, stage, 'operations');
  for (const expected of test.expectEvents ?? []) {
    checkEvents(expected, entities);
  }
  for (const data of test.outcome ?? []) {
    await checkOutcome(admin, data);
  }
}

async function prepare(admin: MongoClient, data: CollectionData): Promise<void> {
  const db = admin.db(data.databaseName);
  const writeConcern = { w: 'majority' } as const;
  await db.dropCollection(data.collectionName, { writeConcern });
  await db.createCollection(data.collectionName, { ...data.createOptions, writeConcern });
  if (data.documents.length > 0) {
    await db.collection(data.collectionName).insertMany(data.documents, { writeConcern });
  }
}

async function runOperations(
  operations: readonly Operation[],
  stage: CaseContext,
  path: string,
): Promise<void> {
  for (const [i, operation] of operations.entries()) {
    await runOperation(operation, stage, `${path}[${i}] ${operation.name}`);
  }
}

async function runOperation(operation: Operation, stage: CaseContext, path: string): Promise<void> {
  const { entities } = stage;
  const { name, object, expectError, ignoreResultAndError = false } = operation;
  if (object === 'testRunner') {
    await callRunner(name, operation.arguments ?? {}, stage);
    return;
  }
  let result: unknown;
  try {
    result = await callDriver(entities.get(object), name, argumentsOf(operation, stage, path));
  } catch (error) {
    if (ignoreResultAndError) {
      return;
    }
    if (expectError === undefined || error instanceof Mismatch) {
      throw error;
    }
    checkError(expectError, error, { entities, path, isRoot: true });
    return;
  }
  if (ignoreResultAndError) {
    return;
  }
  if (expectError !== undefined) {
    throw new Mismatch(`${path}\n    expected the error ${show(expectError)}\n    found    ${show(result)}`);
  }
  if (operation.saveResultAsEntity !== undefined) {
    entities.set(operation.saveResultAsEntity, result);
  }
  if ('expectResult' in operation) {
    match(operation.expectResult, result, { entities, path, isRoot: name !== 'distinct' });
  }
}

/**
 * Converts the arguments of an operation for the driver. Names of sessions and read preferences are
 * replaced by objects.
 */
function argumentsOf(operation: Operation, stage: CaseContext, path: string): Document {
  const args: Document = { ...operation.arguments };
  if (typeof args['session'] === 'string') {
    args['session'] = stage.entities.get<ClientSession>(args['session']);
  }
  if (args['readPreference'] !== undefined) {
    args['readPreference'] = ReadPreference.fromOptions({ readPreference: args['readPreference'] });
  }
  if (Array.isArray(args['callback'])) {
    const operations = args['callback'] as Operation[];
    args['callback'] = () => runOperations(operations, stage, `${path}.callback`);
  }
  return args;
}

function checkEvents(
  { client, eventType = 'command', ...expected }: ExpectedEvents,
  entities: Entities,
): void {
  const seen = entities.eventsOf(client).filter(({ type }) => type === eventType);
  const names = seen.map(({ name, event }) => `${name}(${String(event['commandName'] ?? '')})`).join(', ');
  const isEnough =
    expected.ignoreExtraEvents === true
      ? seen.length >= expected.events.length
      : seen.length === expected.events.length;
  if (!isEnough) {
    const wanted = expected.events.flatMap((event) => Object.keys(event)).join(', ');
    throw new Mismatch(`events of ${client}\n    expected ${wanted}\n    found    ${names}`);
  }
  for (const [i, wanted] of expected.events.entries()) {
    const [name, fields] = Object.entries(wanted)[0] ?? ['', {}];
    const path = `events of ${client}[${i}]`;
    match(name, seen[i]?.name, { entities, path, isRoot: true });
    for (const [field, value] of Object.entries(fields)) {
      const actual = toSpecifiedForm(field, value, eventField(seen[i]?.event ?? {}, field));
      match(value, actual, { entities, path: `${path}.${field}`, isRoot: true });
    }
  }
}

function eventField(event: Document, field: string): unknown {
  switch (field) {
    case 'hasServiceId':
      return event['serviceId'] !== undefined && event['serviceId'] !== null;
    case 'hasServerConnectionId':
      return event['serverConnectionId'] !== undefined && event['serverConnectionId'] !== null;
    default:
      return event[field];
  }
}

async function checkOutcome(admin: MongoClient, data: CollectionData): Promise<void> {
  const collection = admin.db(data.databaseName).collection(data.collectionName);
  const found = await collection.find({}, { readConcern: 'local' }).sort({ _id: 1 }).toArray();
  const path = `outcome of ${data.collectionName}`;
  match(data.documents, found, { entities: new Entities(''), path, isRoot: false });
}

/** Formats an error for the output. */
export function describeError(error: unknown): string {
  if (error instanceof Mismatch || !(error instanceof Error)) {
    return error instanceof Mismatch ? error.message : String(error);
  }
  const code = error instanceof MongoServerError ? ` ${String(error.code)}` : '';
  return `${error.name}${code}: ${error.message}`;
}
