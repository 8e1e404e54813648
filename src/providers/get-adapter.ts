import { env } from '../../config/env.js';
import type { Account, ProviderSettings } from '../accounts/account.model.js';
import { decrypt } from '../shared/encryption.js';
import type { ProviderAdapter, ProviderConnection } from './adapter.js';
import { h2hAdapter } from './h2h.js';

const adapters: Record<ProviderSettings['kind'], ProviderAdapter> = {
  simulator: h2hAdapter('simulator'),
  h2h: h2hAdapter('h2h'),
  digiflazz: h2hAdapter('h2h'),
};

export function adapterFor(kind: ProviderSettings['kind']): ProviderAdapter {
  return adapters[kind];
}

/** The context that a provider secret of this account is encrypted with. */
export function providerSecretContext(accountId: string): string {
  return `provider:${accountId}`;
}

/**
 * How to reach the system that fulfils a seller's sales, with its secrets in clear.
 * @throws Error if the account has no provider or its settings are not complete: the operator's mistake.
 */
export function connectionOf(seller: Pick<Account, '_id' | 'provider'>): ProviderConnection {
  const { _id: sellerId, provider } = seller;
  if (!provider) {
    throw new Error(`Seller ${sellerId} has no provider`);
  }
  const baseUrl = provider.baseUrl ?? (provider.kind === 'simulator' ? env.SIMULATOR_URL : null);
  if (baseUrl === null) {
    throw new Error(`The address of the provider of seller ${sellerId} is not set`);
  }
  const context = providerSecretContext(sellerId);
  const { callbackSecretSealed = null, signWith } = provider;
  return {
    sellerId,
    baseUrl,
    username: provider.username,
    secret: decrypt(provider.secretSealed, context),
    callbackSecret: callbackSecretSealed === null ? null : decrypt(callbackSecretSealed, context),
    ...(signWith && { signWith }),
  };
}
