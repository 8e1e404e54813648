/**
 * Every place where a secret is stored sealed: the list that `topup keys reencrypt` and `topup doctor` go through. A test
 * compares it with the models, so that no new one is forgotten under an old key.
 */
import type { Model } from 'mongoose';
import { limits } from '../config/limits.js';
import { totpContext } from './operators/second-factor.js';
import { apiKeyContext, providerSecretContext, webhookSecretContext } from './accounts/secret-contexts.js';
import { AccountModel } from './accounts/account.model.js';
import { ApiKeyModel } from './accounts/api-key.model.js';
import { OperatorModel } from './operators/operator.model.js';
import type { SealedChange, SealedSource } from './accounts/reencrypt.js';
import { writeAndInvalidate } from './redis/changing.js';

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
