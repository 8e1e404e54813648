import type { Document } from 'mongodb';
import type { Case, CaseFile, EntityDefinition, Operation, Requirement } from './cases.js';
import { CLIENT_FIELDS, ENTITY_KINDS } from './entities.js';
import { isOperator } from './match.js';
import { isDriverCall } from './operations.js';
import { isRunnerCall } from './runner-operations.js';

/** A group of cases to skip, with the reason. */
interface Rule {
  reason: string;
  isMeant: (found: CaseContents) => boolean;
}

/** The operations and keys that a case uses. */
interface CaseContents {
  operations: readonly Operation[];
  keys: ReadonlySet<string>;
}

/** Rules for cases that are skipped although the server meets their requirements. */
const RULES: readonly Rule[] = [
  {
    reason: 'the server refuses change streams by name',
    isMeant: ({ operations }) => uses(operations, 'createChangeStream'),
  },
  {
    reason: 'the server refuses collations other than simple by name',
    isMeant: ({ keys }) => keys.has('collation'),
  },
  {
    reason: 'the server refuses views, capped collections, collMod, mapReduce, $documents and $rand by name',
    isMeant: ({ operations, keys }) =>
      ['viewOn', 'capped', '$documents', '$rand'].some((key) => keys.has(key)) ||
      uses(operations, 'modifyCollection', 'mapReduce'),
  },
  {
    reason: 'there is no secondary, and a client with read preference secondary cannot connect',
    isMeant: ({ operations }) =>
      operations
        .flatMap(({ arguments: args }) => (args?.['entities'] ?? []) as EntityDefinition[])
        .some(({ client }) => client?.['uriOptions']?.readPreference === 'secondary'),
  },
  {
    reason: 'the driver has no calls that list collections or databases as objects',
    isMeant: ({ operations }) => uses(operations, 'listCollectionObjects', 'listDatabaseObjects'),
  },
  {
    reason: 'the driver replaces a null _id by an ObjectId before the server sees it',
    isMeant: ({ operations }) => operations.some(insertsNullId),
  },
  {
    reason: 'the driver omits bypassDocumentValidation: false',
    isMeant: ({ operations }) =>
      operations.some(
        ({ name, arguments: args }) =>
          /^(aggregate|bulkWrite|insertMany|findOneAnd.*)$/.test(name) &&
          args?.['bypassDocumentValidation'] === false,
      ),
  },
  {
    reason: 'after a lost connection the driver reports the ids that it sent as inserted',
    isMeant: ({ operations }) =>
      uses(operations, 'failPoint') &&
      operations.some(({ name, expectError }) => {
        const result = expectError?.expectResult as Document | undefined;
        return name === 'bulkWrite' && result?.['insertedCount'] === 0;
      }),
  },
];

/** Returns the reason why a case is skipped. Null if it must run. */
export function findSkipReason(file: CaseFile, test: Case, serverVersion: string): string | null {
  const unmet =
    unmetOf(file.runOnRequirements, serverVersion) ?? unmetOf(test.runOnRequirements, serverVersion);
  if (unmet !== null) {
    return unmet;
  }
  if (test.skipReason !== undefined) {
    return `the case itself says: ${test.skipReason}`;
  }
  const operations = operationsOf(test.operations);
  const created = file.initialData?.map(({ createOptions }) => createOptions);
  const found = { operations, keys: keysOf([test, created]) };
  return RULES.find(({ isMeant }) => isMeant(found))?.reason ?? unknownOf(file, found);
}

/** Returns the reason why the server meets none of the requirements. Null if it meets one. */
function unmetOf(requirements: readonly Requirement[] | undefined, serverVersion: string): string | null {
  if (requirements === undefined || requirements.length === 0) {
    return null;
  }
  const reasons = requirements.map((requirement) => unmet(requirement, serverVersion));
  return reasons.includes(null)
    ? null
    : (reasons.find((reason) => reason?.includes('MongoDB')) ?? reasons[0] ?? null);
}

function unmet(requirement: Requirement, serverVersion: string): string | null {
  const { topologies, minServerVersion, maxServerVersion, serverless, auth, csfle, serverParameters } =
    requirement;
  if (topologies?.includes('replicaset') === false) {
    return 'it is not for replica sets';
  }
  if (minServerVersion !== undefined && compareVersions(serverVersion, minServerVersion) < 0) {
    return `it is for MongoDB ${minServerVersion} and later`;
  }
  if (maxServerVersion !== undefined && compareVersions(serverVersion, maxServerVersion) > 0) {
    return 'it is for MongoDB before 7';
  }
  if (serverless === 'require') {
    return 'it is for serverless instances';
  }
  if (auth === true || (csfle !== undefined && csfle !== false)) {
    return auth === true ? 'it is for servers with authentication' : 'it is for client-side encryption';
  }
  return serverParameters === undefined ? null : 'it is for a server with other parameters';
}

function compareVersions(left: string, right: string): number {
  const [a, b] = [left, right].map((version) => version.split('.').map(Number));
  const i = [0, 1, 2].find((part) => (a?.[part] ?? 0) !== (b?.[part] ?? 0)) ?? 0;
  return (a?.[i] ?? 0) - (b?.[i] ?? 0);
}

function unknownOf(file: CaseFile, { operations, keys }: CaseContents): string | null {
  const operation = operations.find(({ name, object }) =>
    object === 'testRunner' ? !isRunnerCall(name) : !isDriverCall(name),
  );
  if (operation !== undefined) {
    return `the runner does not support operation ${operation.name}`;
  }
  const operator = [...keys].find((key) => key.startsWith('$$') && !isOperator(key));
  if (operator !== undefined) {
    return `the runner does not support operator ${operator}`;
  }
  const definitions = [
    ...(file.createEntities ?? []),
    ...operations.flatMap(({ arguments: args }) => (args?.['entities'] ?? []) as EntityDefinition[]),
  ];
  const kind = definitions.flatMap(Object.keys).find((name) => !ENTITY_KINDS.includes(name));
  if (kind !== undefined) {
    return `the runner does not support entity ${kind}`;
  }
  const option = definitions
    .flatMap(({ client }) => Object.keys(client ?? {}))
    .find((name) => !CLIENT_FIELDS.includes(name));
  if (option !== undefined) {
    return `the runner does not support client option ${option}`;
  }
  return file.schemaVersion.startsWith('1.') ? null : 'it has another version of the format';
}

function uses(operations: readonly Operation[], ...names: string[]): boolean {
  return operations.some(({ name }) => names.includes(name));
}

function insertsNullId({ name, arguments: args = {} }: Operation): boolean {
  const documents: Document[] =
    {
      insertOne: [args['document']],
      insertMany: args['documents'],
      bulkWrite: args['requests']?.map((request: Document) => request['insertOne']?.document),
    }[name] ?? [];
  return documents.some((document?: Document) => document?.['_id'] === null);
}

/** Returns the operations, including those inside of callbacks. */
function operationsOf(operations: readonly Operation[]): Operation[] {
  return operations.flatMap((operation) => [
    operation,
    ...operationsOf((operation.arguments?.['callback'] ?? []) as Operation[]),
  ]);
}

function keysOf(value: unknown): Set<string> {
  if (typeof value !== 'object' || value === null) {
    return new Set();
  }
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  return new Set([...keys, ...Object.values(value).flatMap((item) => [...keysOf(item)])]);
}
