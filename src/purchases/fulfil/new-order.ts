import type { ProviderSettings } from '../../accounts/account.model.js';
import { now } from '../../shared/clock.js';
import type { Order } from '../order.model.js';

/** Builds an order that is neither stored nor sent yet. `claimOrder` stores it. */
export function buildOrder(
  order: Pick<Order, 'transactionId' | 'n' | 'sellerId' | 'offerPrice' | 'commissionRate'> & {
    accountId: string;
    provider: Pick<ProviderSettings, 'kind' | 'baseUrl' | 'username'>;
  },
): Order {
  const { provider, ...given } = order;
  const at = now();
  return {
    ...given,
    _id: `${given.transactionId}-${given.n}`,
    providerKind: provider.kind,
    providerBaseUrl: provider.baseUrl,
    providerUsername: provider.username,
    status: 'SENT',
    open: true,
    leaseToken: null,
    leaseUntil: null,
    sentAt: null,
    checks: 0,
    notFound: 0,
    lastCheckAt: null,
    code: null,
    message: null,
    serialNumber: null,
    createdAt: at,
    updatedAt: at,
  };
}
