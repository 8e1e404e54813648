import { randomBytes } from 'node:crypto';
import { getApiKeyContext, getProviderSecretContext, getWebhookSecretContext } from './secret-contexts.js';
import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { bySystem, recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { WalletModel } from '../money/wallets/wallet.model.js';
import { now } from '../shared/clock.js';
import { encrypt } from '../shared/encryption.js';
import { ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { newId } from '../shared/ids.js';
import { runInTransaction, isDuplicateKey } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/publish-changes.js';
import { AccountModel, type Account, type ProviderSettings, type Role } from './account.model.js';
import { ApiKeyModel } from './api-key.model.js';
import { hashApiKey, generateApiKey } from './api-key.js';

export interface NewAccount {
  username: string;
  role: Role;
  webhookUrl?: string | null;
  callbackUrl?: string | null;
  /** For sellers only. `secret` is in clear text here and is stored encrypted. */
  provider?: {
    kind: ProviderSettings['kind'];
    baseUrl: string | null;
    username: string;
    secret: string;
    callbackSecret?: string;
  };
  /** A fixed API key, which only the seed sets. */
  apiKey?: string;
  webhookSecret?: string;
}

export interface CreatedAccount {
  account: Account;
  apiKey: string;
  webhookSecret: string;
}

/**
 * Creates an account with its wallet (balance 0) and its first API key, in one transaction.
 * @throws ConflictError if the username is taken.
 */
export async function createAccount(input: NewAccount, by: ChangedBy = bySystem): Promise<CreatedAccount> {
  const id = newId();
  const mode = env.APP_MODE === 'live' ? 'live' : 'test';
  const apiKey = input.apiKey ?? generateApiKey(input.role, mode);
  const webhookSecret = input.webhookSecret ?? generateWebhookSecret();
  const account = buildAccountDocument({ id, mode, input, webhookSecret });
  try {
    // Invalidate all accounts, so that routing finds a new seller.
    const key = buildApiKeyDocument(id, apiKey);
    await writeAndInvalidate([AccountModel, ApiKeyModel], null, (accounts, keys) =>
      runInTransaction(async (session) => {
        await accounts.create([account], { session });
        await WalletModel.create([{ _id: id, balance: 0, held: 0, seq: 0 }], { session });
        await keys.create([key], { session });
        await recordAudit(session, {
          ...by,
          action: 'account.create',
          subject: { kind: 'account', id },
          after: { username: account.username, role: account.role, mode: account.mode, keyId: key._id },
        });
      }),
    );
  } catch (error) {
    if (isDuplicateKey(error)) {
      throw new ConflictError(asWritten(`The username "${input.username}" is taken.`), { cause: error });
    }
    throw error;
  }
  return { account, apiKey, webhookSecret };
}

/** Returns `whsec_` and 32 random bytes in base64, as Standard Webhooks requires. */
export function generateWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

export function buildApiKeyDocument(accountId: string, apiKey: string) {
  return {
    _id: newId(),
    accountId,
    sha256: hashApiKey(apiKey),
    sealed: encrypt(apiKey, getApiKeyContext(accountId)),
    validUntil: null,
    createdAt: now(),
  };
}

function buildAccountDocument(options: {
  id: string;
  mode: Account['mode'];
  input: NewAccount;
  webhookSecret: string;
}): Account {
  const { id, mode, input, webhookSecret } = options;
  const at = now();
  return {
    _id: id,
    username: input.username,
    role: input.role,
    status: 'active',
    mode,
    webhookUrl: input.webhookUrl ?? null,
    callbackUrl: input.callbackUrl ?? null,
    ipWhitelist: [],
    rateLimit: limits.rateLimitDefault,
    webhookSecretSealed: encrypt(webhookSecret, getWebhookSecretContext(id)),
    previousWebhookSecret: null,
    webhookStatus: 'enabled',
    requireStrongSign: false,
    requireAck: false,
    commissionRate: null,
    provider: input.provider
      ? {
          kind: input.provider.kind,
          baseUrl: input.provider.baseUrl,
          username: input.provider.username,
          secretSealed: encrypt(input.provider.secret, getProviderSecretContext(id)),
          ...(input.provider.callbackSecret !== undefined && {
            callbackSecretSealed: encrypt(input.provider.callbackSecret, getProviderSecretContext(id)),
          }),
        }
      : null,
    createdAt: at,
    updatedAt: at,
  };
}
