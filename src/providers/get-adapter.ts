import { getProviderSecretContext } from '../accounts/secret-contexts.js';
import type { Account, ProviderSettings } from '../accounts/account.model.js';
import { decrypt } from '../shared/encryption.js';
import { lookUp } from '../shared/collections.js';
import type { ProviderAdapter, ProviderConnection } from './adapter.js';
import { createDigiflazzAdapter } from './digiflazz.js';
import { guardAdapter } from './guarded-adapter.js';
import { createH2hAdapter } from './h2h.js';
import { createIakAdapter } from './iak.js';
import { storeFloatThrottled } from './provider-float.js';
import { getKind } from './provider-kinds.js';

const adapters: Record<ProviderSettings['kind'], ProviderAdapter> = {
  simulator: guardAdapter(createH2hAdapter('simulator')),
  h2h: guardAdapter(createH2hAdapter('h2h')),
  digiflazz: guardAdapter(createDigiflazzAdapter(storeFloatThrottled)),
  iak: guardAdapter(createIakAdapter(storeFloatThrottled)),
};

/** The longest timeout of a call to any provider, in milliseconds. */
export const callTimeoutMaxMs = Math.max(...Object.values(adapters).map(({ traits }) => traits.timeoutMs));

/**
 * Returns the adapter of a provider kind.
 * @throws Error if this release does not have the kind. A person must then decide about orders that
 *   were sent to a provider of this kind.
 */
export function getAdapter(kind: ProviderSettings['kind']): ProviderAdapter {
  const adapter = lookUp(adapters, kind);
  if (!adapter) {
    throw new Error(`This release does not support providers of kind ${kind}`);
  }
  return adapter;
}

export function hasAdapter(kind: string): boolean {
  return lookUp(adapters, kind) !== undefined;
}

export interface OrderDestination {
  providerKind: ProviderSettings['kind'];
  providerBaseUrl: string | null;
  providerUsername: string;
}

/**
 * Returns the connection to a seller's provider, with secrets in clear text.
 * @param sentTo The address and username that an order was sent with. No other system may be
 *   queried about the order, because it could execute the order again.
 * @throws Error if the account has no provider or its settings are incomplete.
 */
export function buildConnection(
  seller: Pick<Account, '_id' | 'provider'>,
  sentTo?: OrderDestination,
): ProviderConnection {
  const { _id: sellerId, provider } = seller;
  if (!provider) {
    throw new Error(`Seller ${sellerId} has no provider`);
  }
  const baseUrl = getAddress(provider, sentTo);
  if (baseUrl === null) {
    throw new Error(`The address of the provider of seller ${sellerId} is not set`);
  }
  const context = getProviderSecretContext(sellerId);
  const { callsPerSecond = null, concurrency = null, serialPlaceholders } = provider;
  const { secretSealed, callbackSecretSealed = null, signWith } = getCredentials(provider, sentTo);
  return {
    sellerId,
    baseUrl,
    username: sentTo?.providerUsername ?? provider.username,
    secret: decrypt(secretSealed, context),
    callbackSecret: callbackSecretSealed === null ? null : decrypt(callbackSecretSealed, context),
    ...(signWith && { signWith }),
    callsPerSecond,
    concurrency,
    ...(serialPlaceholders && { serialPlaceholders }),
  };
}

function getAddress(provider: ProviderSettings, sentTo: OrderDestination | undefined): string | null {
  return sentTo === undefined
    ? (provider.baseUrl ?? getKind(provider.kind).getDefaultAddress())
    : (sentTo.providerBaseUrl ?? getKind(sentTo.providerKind).getDefaultAddress());
}

/** An order that was sent before the last change of system belongs to the credentials before it. */
function getCredentials(provider: ProviderSettings, sentTo: OrderDestination | undefined) {
  const { previous } = provider;
  return sentTo && previous && !hasDestination(provider, sentTo) && hasDestination(previous, sentTo)
    ? previous
    : provider;
}

/** True if an order with this destination was sent to this system. */
export function hasDestination(
  { kind, baseUrl, username }: Pick<ProviderSettings, 'kind' | 'baseUrl' | 'username'>,
  sentTo: OrderDestination,
): boolean {
  return (
    kind === sentTo.providerKind && baseUrl === sentTo.providerBaseUrl && username === sentTo.providerUsername
  );
}
