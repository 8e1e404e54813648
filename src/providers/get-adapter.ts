import { env } from '../../config/env.js';
import type { Account, ProviderSettings } from '../accounts/account.model.js';
import { decrypt } from '../shared/encryption.js';
import type { ProviderAdapter, ProviderConnection } from './adapter.js';
import { digiflazzAdapter } from './digiflazz.js';
import { guardedAdapter } from './guarded-adapter.js';
import { h2hAdapter } from './h2h.js';
import { noteFloat } from './note-float.js';

const adapters: Record<ProviderSettings['kind'], ProviderAdapter> = {
  simulator: guardedAdapter(h2hAdapter('simulator')),
  h2h: guardedAdapter(h2hAdapter('h2h')),
  digiflazz: guardedAdapter(digiflazzAdapter(noteFloat)),
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
  const baseUrl = provider.baseUrl ?? ownAddressOf(provider.kind);
  if (baseUrl === null) {
    throw new Error(`The address of the provider of seller ${sellerId} is not set`);
  }
  const context = providerSecretContext(sellerId);
  const { callbackSecretSealed = null, signWith, callsPerSecond = null, concurrency = null } = provider;
  return {
    sellerId,
    baseUrl,
    username: provider.username,
    secret: decrypt(provider.secretSealed, context),
    callbackSecret: callbackSecretSealed === null ? null : decrypt(callbackSecretSealed, context),
    ...(signWith && { signWith }),
    callsPerSecond,
    concurrency,
  };
}

/** The address that a kind has without being told. */
function ownAddressOf(kind: ProviderSettings['kind']): string | null {
  switch (kind) {
    case 'simulator':
      return env.SIMULATOR_URL;
    case 'digiflazz':
      return 'https://api.digiflazz.com/v1';
    case 'h2h':
      return null;
  }
}
