/** Cache of API keys with their accounts, in each process. */
import { getQuickCollection } from '../database/mongo.js';
import { now } from '../shared/clock.js';
import { batchCalls } from '../shared/concurrency.js';
import { createCache } from '../redis/cache.js';
import { AccountModel, type Account } from './account.model.js';
import { ApiKeyModel, type ApiKey } from './api-key.model.js';

export interface KeyAndAccount {
  key: Pick<ApiKey, '_id' | 'validUntil'>;
  account: Account;
}

export interface AccountAndKeys {
  account: Account;
  /** The current key, and older keys whose overlap had not ended when they were loaded. */
  keys: ApiKey[];
}

const cacheOptions = {
  from: [ApiKeyModel, AccountModel],
  isAbout: ({ account }: { account: Account }, accountId: string) => account._id === accountId,
};

export const findKeyByHash = createCache({ ...cacheOptions, load: buildKeyLoader('sha256') });
export const findKeyById = createCache({ ...cacheOptions, load: buildKeyLoader('_id') });
export const findKeysByUsername = createCache({ ...cacheOptions, load: loadByUsername });

/** Builds a loader whose concurrent look-ups, as after a restart, share two queries. */
function buildKeyLoader(field: 'sha256' | '_id'): (value: string) => Promise<KeyAndAccount | null> {
  return batchCalls<string, KeyAndAccount | null>({
    itemsMax: 200,
    async run(values) {
      const keys = await getQuickCollection(ApiKeyModel)
        .find({ [field]: { $in: values } })
        .toArray();
      const ids = keys.map(({ accountId }) => accountId);
      const accounts =
        keys.length === 0
          ? []
          : await getQuickCollection(AccountModel)
              .find({ _id: { $in: ids } })
              .toArray();
      const accountsById = new Map(accounts.map((account) => [account._id, account]));
      const keysByValue = new Map(keys.map((key) => [key[field], key]));
      return values.map((value) => {
        const key = keysByValue.get(value);
        const account = key && accountsById.get(key.accountId);
        return key && account ? { key: { _id: key._id, validUntil: key.validUntil ?? null }, account } : null;
      });
    },
  });
}

async function loadByUsername(username: string): Promise<AccountAndKeys | null> {
  const account = await getQuickCollection(AccountModel).findOne({ username });
  const live = [{ validUntil: null }, { validUntil: { $gt: now() } }];
  // Query keys even for an unknown username, so that the response time is the same.
  const accountId = account?._id ?? 'nobody';
  const keys = await getQuickCollection(ApiKeyModel).find({ accountId, $or: live }).toArray();
  return account && { account, keys };
}
