/** Where secrets are stored sealed, and what seals them anew with the key that seals now (docs/guides/operate/change-the-encryption-key.md). */
import { lookUp } from './shared/collections.js';
import { decrypt, encrypt, getKeyId, keyring, sealingKey } from './shared/encryption.js';
import type { Model } from 'mongoose';
import { limits } from '../config/limits.js';
import { totpContext } from './operators/second-factor.js';
import { apiKeyContext, providerSecretContext, webhookSecretContext } from './accounts/secret-contexts.js';
import { AccountModel } from './accounts/account.model.js';
import { ApiKeyModel } from './accounts/api-key.model.js';
import { OperatorModel } from './operators/operator.model.js';
import { writeAndInvalidate } from './redis/publish-changes.js';

type Row = Record<string, unknown> & { _id: string };

/** One condition and one change: nothing is written where the secret has become another one meanwhile. */
export interface SealedChange {
  _id: string;
  path: string;
  from: string;
  to: string;
}

export interface SealedSource {
  /** Of the collection. */
  name: string;
  /** Paths of sealed values; the context that each is bound to. */
  fields: { path: string; contextOf: (row: Row) => string }[];
  /** What `contextOf` needs beside the values and the id. */
  needs: string[];
  /** Rows above an id, by their ids. */
  read: (options: { above: string | null; limit: number; fields: string[] }) => Promise<Row[]>;
  /** Applies each change whose `from` is still there. Processes that keep these rows in memory must hear of it. */
  write: (rows: Row[], changes: SealedChange[]) => Promise<{ modifiedCount: number }>;
}

/** Key id -> how many values, by the names of sources and their paths. */
export type SealedCounts = Record<string, Record<string, number>>;

const batchSize = 500;

/**
 * Seals everything that another key sealed. Safe to break off, to run again, and to run twice at once: each change holds
 * only if the value is still the one that was read. A value that can't be opened stays as it is, and is told by its place.
 */
export async function reencrypt(
  sources: SealedSource[],
  onProgress: (source: string, done: number) => void = () => undefined,
  onUnreadable: (place: string, id: string) => void = () => undefined,
): Promise<{ changed: number; unreadable: number }> {
  const sum = { changed: 0, unreadable: 0 };
  for (const source of sources) {
    let done = 0;
    for await (const rows of readBatches(source)) {
      const changes = rows.flatMap((row) => buildChanges(source, row, onUnreadable));
      const open = changes.filter((each): each is SealedChange => each !== null);
      if (open.length > 0) {
        sum.changed += (await source.write(rows, open)).modifiedCount;
      }
      sum.unreadable += changes.length - open.length;
      done += rows.length;
      onProgress(source.name, done);
    }
  }
  return sum;
}

/** How many values each key has sealed: all ids that are found, and those of the ring with 0. */
export async function countSealed(sources: SealedSource[]): Promise<SealedCounts> {
  const counts: SealedCounts = Object.fromEntries(keyring().map(({ id }) => [id, {}]));
  for (const source of sources) {
    for await (const rows of readBatches(source)) {
      for (const { path, sealed } of rows.flatMap((row) => findSealedValues(source, row))) {
        const ofKey = (counts[getKeyId(sealed)] ??= {});
        const place = `${source.name}.${path}`;
        ofKey[place] = (lookUp(ofKey, place) ?? 0) + 1;
      }
    }
  }
  return counts;
}

export function sumForKey(counts: SealedCounts, id: string): number {
  return Object.values(lookUp(counts, id) ?? {}).reduce((sum, count) => sum + count, 0);
}

/** In constant memory, however many there are. */
async function* readBatches({ read, fields, needs }: SealedSource): AsyncGenerator<Row[]> {
  const names = [...fields.map(({ path }) => path), ...needs];
  let above: string | null = null;
  for (;;) {
    const rows = await read({ above, limit: batchSize, fields: names });
    const last = rows.at(-1);
    if (!last) {
      return;
    }
    yield rows;
    above = last._id;
  }
}

/** Null for one that can't be opened. */
function buildChanges(
  source: SealedSource,
  row: Row,
  onUnreadable: (place: string, id: string) => void,
): (SealedChange | null)[] {
  return findSealedValues(source, row)
    .filter(({ sealed }) => getKeyId(sealed) !== sealingKey().id)
    .map(({ path, sealed, context }) => {
      try {
        return { _id: row._id, path, from: sealed, to: encrypt(decrypt(sealed, context), context) };
      } catch {
        onUnreadable(`${source.name}.${path}`, row._id);
        return null;
      }
    });
}

function findSealedValues(
  source: SealedSource,
  row: Row,
): { path: string; sealed: string; context: string }[] {
  return source.fields.flatMap(({ path, contextOf }) => {
    const sealed = path.split('.').reduce<unknown>((value, name) => getField(value, name), row);
    return typeof sealed === 'string' ? [{ path, sealed, context: contextOf(row) }] : [];
  });
}

function getField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? new Map<string, unknown>(Object.entries(value)).get(name)
    : undefined;
}

/**
 * Every place where a secret is stored sealed: the list that `topup keys reencrypt` and `topup doctor` go through. A test
 * compares it with the models, so that no new one is forgotten under an old key.
 */

/** Sealed, and left as it is: for the days of one delivery; the present keys sign where it cannot be opened any more. */
export const excludedFields = ['deliveries.secretSealed'];

export const sealedSources: SealedSource[] = [
  {
    name: 'accounts',
    fields: [
      { path: 'webhookSecretSealed', contextOf: ({ _id }) => webhookSecretContext(_id) },
      { path: 'previousWebhookSecret.sealed', contextOf: ({ _id }) => webhookSecretContext(_id) },
      // A place in the list has a path of its own.
      ...Array.from({ length: limits.webhookEndpointsMax }, (_none, place) => [
        buildSealedField(`webhookEndpoints.${place}.secretSealed`),
        buildSealedField(`webhookEndpoints.${place}.previousSecret.sealed`),
      ]).flat(),
      { path: 'provider.secretSealed', contextOf: ({ _id }) => providerSecretContext(_id) },
      { path: 'provider.callbackSecretSealed', contextOf: ({ _id }) => providerSecretContext(_id) },
    ],
    needs: [],
    read: buildReader(AccountModel),
    write: (rows, changes) =>
      writeAndInvalidate(
        [AccountModel],
        rows.map(({ _id }) => _id),
        (accounts) => accounts.bulkWrite(changes.map(buildUpdate), { ordered: false, timestamps: false }),
      ),
  },
  {
    name: 'apiKeys',
    fields: [{ path: 'sealed', contextOf: ({ accountId }) => apiKeyContext(String(accountId)) }],
    needs: ['accountId'],
    read: buildReader(ApiKeyModel),
    write: (rows, changes) => {
      const subjects = [...new Set(rows.map(({ accountId }) => String(accountId)))];
      return writeAndInvalidate([ApiKeyModel], subjects, (keys) =>
        keys.bulkWrite(changes.map(buildUpdate), { ordered: false, timestamps: false }),
      );
    },
  },
  {
    name: 'operators',
    fields: [
      { path: 'totp.secretSealed', contextOf: ({ _id }) => totpContext(_id) },
      { path: 'totpPending.secretSealed', contextOf: ({ _id }) => totpContext(_id) },
    ],
    needs: [],
    read: buildReader(OperatorModel),
    write: (_, changes) => OperatorModel.bulkWrite(changes.map(buildUpdate), { ordered: false }),
  },
];

function buildSealedField(path: string): SealedSource['fields'][number] {
  return { path, contextOf: ({ _id }) => webhookSecretContext(_id) };
}

/** What a row is read by; it is written by the source's own way. */
type Reader = Pick<Model<unknown>, 'find'>;

function buildReader(model: object): SealedSource['read'] {
  // Of whatever rows: only ids and sealed texts are read.
  const reader = model as Reader;
  return ({ above, limit, fields }) =>
    reader
      .find(
        above === null ? {} : { _id: { $gt: above } },
        // A projection names no places of a list: it takes the field of all of them.
        Object.fromEntries(fields.map((each) => [each.replace(/\.\d+(?=\.)/g, ''), 1])),
      )
      .sort({ _id: 1 })
      .limit(limit)
      .lean<Awaited<ReturnType<SealedSource['read']>>>();
}

function buildUpdate({ _id, path, from, to }: SealedChange) {
  return { updateOne: { filter: { _id, [path]: from }, update: { $set: { [path]: to } } } };
}
