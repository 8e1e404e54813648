/**
 * Finds all encrypted secrets, and encrypts them again with the current key
 * (docs/guides/operate/change-the-encryption-key.md).
 */
import { lookUp } from './shared/collections.js';
import { decrypt, encrypt, getKeyId, getKeyring, getSealingKey } from './shared/encryption.js';
import type { Model } from 'mongoose';
import { limits } from '../config/limits.js';
import { getTotpContext } from './operators/second-factor.js';
import {
  getApiKeyContext,
  getProviderSecretContext,
  getWebhookSecretContext,
} from './accounts/secret-contexts.js';
import { AccountModel } from './accounts/account.model.js';
import { ApiKeyModel } from './accounts/api-key.model.js';
import { OperatorModel } from './operators/operator.model.js';
import { writeAndInvalidate } from './redis/publish-changes.js';

type Row = Record<string, unknown> & { _id: string };

/** A conditional change. It is written only if the stored secret still equals `from`. */
export interface SealedChange {
  _id: string;
  path: string;
  from: string;
  to: string;
}

export interface SealedSource {
  /** Collection name. */
  name: string;
  /** Paths of encrypted values, each with its encryption context. */
  fields: { path: string; contextOf: (row: Row) => string }[];
  /** Fields that `contextOf` needs in addition to the values and the id. */
  needs: string[];
  /** Reads rows with ids above `above`, ordered by id. Null reads from the first row. */
  read: (options: { above: string | null; limit: number; fields: string[] }) => Promise<Row[]>;
  /**
   * Applies each change whose `from` is still stored. It must invalidate caches of these rows in
   * all processes.
   */
  write: (rows: Row[], changes: SealedChange[]) => Promise<{ modifiedCount: number }>;
}

/** Number of values by key id, then by source and path. */
export type SealedCounts = Record<string, Record<string, number>>;

const batchSize = 500;

/**
 * Encrypts every value that uses another key with the current key. Safe to interrupt, to repeat and
 * to run concurrently, because each change is conditional on the value that was read. Unreadable
 * values stay unchanged and are passed to `onUnreadable`.
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

/**
 * Counts the values of each key. The result includes unused keys of the keyring with 0, and keys
 * that are missing from the keyring.
 */
export async function countSealed(sources: SealedSource[]): Promise<SealedCounts> {
  const counts: SealedCounts = Object.fromEntries(getKeyring().map(({ id }) => [id, {}]));
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

/** Reads all rows in constant memory. */
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

/** Builds the changes of a row. An item is null if its value cannot be decrypted. */
function buildChanges(
  source: SealedSource,
  row: Row,
  onUnreadable: (place: string, id: string) => void,
): (SealedChange | null)[] {
  return findSealedValues(source, row)
    .filter(({ sealed }) => getKeyId(sealed) !== getSealingKey().id)
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
 * Encrypted fields that are not encrypted again, because they live only as long as one delivery. If
 * the secret of a delivery cannot be decrypted, the delivery is signed with the current secrets of
 * the account.
 */
export const excludedFields = ['deliveries.secretSealed'];

/**
 * Every place that stores encrypted secrets. `topup keys reencrypt` and `topup doctor` use this
 * list. A test compares the list with the models.
 */
export const sealedSources: SealedSource[] = [
  {
    name: 'accounts',
    fields: [
      { path: 'webhookSecretSealed', contextOf: ({ _id }) => getWebhookSecretContext(_id) },
      { path: 'previousWebhookSecret.sealed', contextOf: ({ _id }) => getWebhookSecretContext(_id) },
      // Each position of the array has its own path.
      ...Array.from({ length: limits.webhookEndpointsMax }, (_none, place) => [
        buildSealedField(`webhookEndpoints.${place}.secretSealed`),
        buildSealedField(`webhookEndpoints.${place}.previousSecret.sealed`),
      ]).flat(),
      ...[
        'secretSealed',
        'callbackSecretSealed',
        'previous.secretSealed',
        'previous.callbackSecretSealed',
      ].map((field) => ({
        path: `provider.${field}`,
        contextOf: ({ _id }: Row) => getProviderSecretContext(_id),
      })),
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
    fields: [{ path: 'sealed', contextOf: ({ accountId }) => getApiKeyContext(String(accountId)) }],
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
      { path: 'totp.secretSealed', contextOf: ({ _id }) => getTotpContext(_id) },
      { path: 'totpPending.secretSealed', contextOf: ({ _id }) => getTotpContext(_id) },
    ],
    needs: [],
    read: buildReader(OperatorModel),
    write: (_, changes) => OperatorModel.bulkWrite(changes.map(buildUpdate), { ordered: false }),
  },
];

function buildSealedField(path: string): SealedSource['fields'][number] {
  return { path, contextOf: ({ _id }) => getWebhookSecretContext(_id) };
}

/** A model of any collection. Each source has its own way to write. */
type Reader = Pick<Model<unknown>, 'find'>;

function buildReader(model: object): SealedSource['read'] {
  // Every model fits, because only ids and encrypted texts are read.
  const reader = model as Reader;
  return ({ above, limit, fields }) =>
    reader
      .find(
        above === null ? {} : { _id: { $gt: above } },
        // A projection cannot contain array positions, so it selects the field in every item.
        Object.fromEntries(fields.map((each) => [each.replace(/\.\d+(?=\.)/g, ''), 1])),
      )
      .sort({ _id: 1 })
      .limit(limit)
      .lean<Awaited<ReturnType<SealedSource['read']>>>();
}

function buildUpdate({ _id, path, from, to }: SealedChange) {
  return { updateOne: { filter: { _id, [path]: from }, update: { $set: { [path]: to } } } };
}
