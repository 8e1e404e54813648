/** The calls of the console's pages with their filters, for the data of scripts/bench/seed. */
import { formatBusinessDay } from '../../../src/shared/business-time.js';
import type { Business } from '../seed/seed-database.js';

export interface ConsoleCall {
  /** The path in the console's OpenAPI document. */
  of: string;
  /** A short description of the call. */
  name: string;
  /** The path below /admin. */
  path: string;
  /** Query field of a list that takes `next` of the previous response. */
  pagedBy?: 'after' | 'before';
  /**
   * Cache time of the response in milliseconds. Each call waits until the cached response has
   * expired.
   */
  rememberedMs?: number;
  /** True for a stream, which is called a few times and has no latency goal. */
  isStream?: true;
}

/** Number of pages that are followed by key. */
export const pagesMax = 50;

type Query = Record<string, string | number>;

export function consoleCalls(business: Business): ConsoleCall[] {
  const calls: ConsoleCall[] = [];
  const ask = (
    of: string,
    name: string,
    query: Query = {},
    options: Pick<ConsoleCall, 'pagedBy' | 'rememberedMs'> & { params?: Record<string, string> } = {},
  ) => {
    const { params = {}, ...rest } = options;
    const path = of.replace(/\{(\w+)\}/g, (_all, field: string) => encodeURIComponent(params[field] ?? ''));
    calls.push({ of, name, path: `/api${path}${formatQuery(query)}`, ...rest });
  };
  addOwnerCalls(ask);
  addPurchaseCalls(ask, business);
  addListCalls(ask, business);
  addProductCalls(ask, business);
  addAccountCalls(ask, business);
  calls.push(
    ...[
      { of: 'purchases.csv', name: 'CSV of all', path: '/purchases.csv' },
      {
        of: 'purchases.csv',
        name: 'CSV of one buyer',
        path: `/purchases.csv${formatQuery({ account: name(business.buyers, 0) })}`,
      },
      { of: 'audit.csv', name: 'CSV of all', path: '/audit.csv' },
    ].map((each) => ({ ...each, isStream: true as const })),
  );
  return calls;
}

type AddCall = (
  of: string,
  name: string,
  query?: Query,
  options?: Pick<ConsoleCall, 'pagedBy' | 'rememberedMs'> & { params?: Record<string, string> },
) => void;

const byAfter = { pagedBy: 'after' } as const;
const byBefore = { pagedBy: 'before' } as const;

function formatQuery(query: Query): string {
  const entries = Object.entries(query).map(([key, value]) => [key, String(value)] as [string, string]);
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries).toString()}`;
}

function name(some: readonly { username: string }[], place: number): string {
  return some.at(place)?.username ?? '';
}

function addOwnerCalls(ask: AddCall): void {
  ask('/session', 'session');
  ask('/today', 'figures and plots', {}, { rememberedMs: 5_000 });
  ask('/attention', 'work for operators');
  ask('/ledger', 'accounts, closes, verifications', {}, byBefore);
  ask('/system', 'checks of doctor', {}, { rememberedMs: 5_000 });
  ask('/system/processes', 'processes');
  ask('/system/queues', 'queues', {}, { rememberedMs: 2_000 });
  ask('/system/settings', 'settings');
  ask('/operators', 'operators');
  ask('/rights', 'rights of roles');
  ask('/me', 'the own account');
}

function addPurchaseCalls(
  ask: AddCall,
  { buyers, sellers, goods: sold, sold: sale, reviewed, failingJobId, fromMs, untilMs }: Business,
): void {
  const { purchase } = sale;
  const [big, small] = [name(buyers, 0), name(buyers, -1)];
  const seller = name(sellers, 0);
  const product = sold[7]?.product._id ?? '';
  const [from, to] = [formatBusinessDay(new Date(fromMs)), formatBusinessDay(new Date(untilMs))];
  const filters: [string, Query][] = [
    ['all', {}],
    ...(['SUCCESS', 'FAILED', 'PROCESSING', 'REFUNDED'] as const).map((status): [string, Query] => [
      `status ${status}`,
      { status },
    ]),
    ['largest buyer', { account: big }],
    ['largest buyer, failed', { account: big, status: 'FAILED' }],
    ['largest buyer, reversed', { account: big, status: 'REFUNDED' }],
    ['largest buyer, one product', { account: big, product }],
    ['largest buyer, 60 days', { account: big, from, to }],
    ['smallest buyer', { account: small }],
    ['largest seller', { seller }],
    ['largest seller, failed', { seller, status: 'FAILED' }],
    ['largest buyer and seller', { account: big, seller }],
    ['one product', { product }],
    ['a price', { price_from: 99_000, price_to: 99_999 }],
    ['a price without purchases', { price_from: 900_000_000 }],
    ['the first day', { from, to: from }],
    ['60 days', { from, to }],
  ];
  for (const [words, query] of filters) {
    ask('/purchases', words, query, byAfter);
    ask('/purchases/sums', words, query);
  }
  const searches: [string, string][] = [
    ['an id', purchase._id],
    ['a ref_id', purchase.refId],
    ['a customer number', purchase.customerNumber],
    ['a serial number', purchase.serialNumber ?? ''],
    ['a prefix of serial numbers', (purchase.serialNumber ?? '').slice(0, 7)],
    ['a prefix of accounts', 'buyer-0'],
    ['nothing', 'nobody knows this'],
  ];
  searches.forEach(([words, q]) => {
    ask('/search', words, { q });
  });
  ask('/purchases/{id}', 'one that succeeded', {}, { params: { id: purchase._id } });
  ask('/purchases/{id}/as-customer-sees', 'one that succeeded', {}, { params: { id: purchase._id } });
  ask('/purchases/{id}', 'one under review', {}, { params: { id: reviewed.purchase._id } });
  ask('/jobs/about', 'a purchase', { about: purchase._id });
  ask('/jobs/about', 'the largest buyer', { about: big });
  ask('/jobs/{id}', 'one that failed repeatedly', {}, { params: { id: failingJobId } });
  ask('/jobs/about', 'a ref_id', { about: purchase.refId });
}

function addListCalls(
  ask: AddCall,
  { buyers, sellers, sold: { purchase }, fromMs, untilMs }: Business,
): void {
  const [account, seller] = [name(buyers, 0), name(sellers, 0)];
  const [from, to] = [formatBusinessDay(new Date(fromMs)), formatBusinessDay(new Date(untilMs))];
  ask('/deliveries', 'dead, of all');
  ask('/deliveries', 'largest buyer', { account }, byAfter);
  ask('/deliveries/dead-count', 'of all');
  ask('/deliveries/dead-count', 'largest buyer, 60 days', { account, from, to });
  ask('/receivers/all', 'of all');
  ask('/price-changes', 'of all, 60 days', { from }, byBefore);
  ask('/price-changes', 'one seller, 60 days', { seller, from }, byBefore);
  for (const state of ['due', 'delivered', 'dead', 'held', 'dropped']) {
    ask('/deliveries', `largest buyer, ${state}`, { account, state }, byAfter);
  }
  ask('/deliveries', 'largest buyer, 60 days', { account, from, to }, byAfter);
  ask('/deliveries', 'largest buyer, a ref_id', { account, ref_id: purchase.refId }, byAfter);
  ask('/receivers', 'disabled or paused');
  for (const status of ['waiting', 'pending', 'completed', 'rejected', 'all']) {
    ask('/deposits', status, { status }, byAfter);
  }
  ask('/deposits', 'of a buyer', { account, status: 'all' }, byAfter);
  ask('/deposits', '60 days', { from, to, status: 'all' }, byAfter);
  for (const status of ['open', 'used', 'set-aside']) {
    ask('/bank-lines', status, { status }, byAfter);
  }
  for (const status of ['open', 'pending', 'processing', 'completed', 'failed', 'all']) {
    ask('/settlements', status, { status }, byAfter);
  }
  for (const status of ['waiting', 'pending', 'completed', 'rejected', 'all']) {
    ask('/adjustments', status, { status }, byAfter);
  }
  ask('/settlements', 'of a seller', { account: seller, status: 'all' }, byAfter);
  ask('/settlements', '60 days', { from, to, status: 'all' }, byAfter);
  for (const [words, query] of auditFilters(buyers[0]?.id ?? '', { from, to })) {
    ask('/audit', words, query, byBefore);
  }
  for (const state of ['failed', 'waiting', 'delayed', 'active', 'completed', 'prioritized']) {
    ask('/jobs', state, { queue: 'reports', state }, byAfter);
  }
  ask('/jobs', 'delayed, of a kind', { queue: 'reports', state: 'delayed', name: 'reports' }, byAfter);
}

function auditFilters(account: string, { from, to }: { from: string; to: string }): [string, Query][] {
  return [
    ['all', {}],
    ['an actor', { actor: 'operator:op-3' }],
    ['an actor and an action', { actor: 'operator:op-3', action: 'offer' }],
    ['an action', { action: 'offer.update' }],
    ['an action without entries', { action: 'nothing' }],
    ['a kind', { kind: 'product' }],
    ['an account', { kind: 'account', subject: account }],
    ['60 days', { from, to }],
  ];
}

function addProductCalls(ask: AddCall, { sellers, goods: sold }: Business): void {
  const code = sold[7]?.product._id ?? '';
  const seller = name(sellers, 0);
  ask('/products', 'all', {}, byAfter);
  ask('/products', 'of a seller', { seller }, byAfter);
  ask('/products', 'prefix of codes', { prefix: 'P01' }, byAfter);
  ask('/products/{code}', 'one', {}, { params: { code } });
  ask('/products/{code}/history', 'of an offer', { seller }, { params: { code }, ...byBefore });
  ask('/price-imports', 'all', {}, byAfter);
  ask('/markups', 'all', {}, byAfter);
  ask('/price-groups', 'all', {}, byAfter);
  ask('/providers', 'all', {}, { rememberedMs: 2_000 });
  ask('/provider-kinds', 'all');
  for (const days of [1, 7, 30]) {
    ask('/providers/{username}', `${days} days`, { days }, { params: { username: seller } });
  }
  ask('/routing', 'of a product', { product: code });
}

function addAccountCalls(ask: AddCall, { buyers, sellers, fromMs, untilMs }: Business): void {
  const period = { from: formatBusinessDay(new Date(fromMs)), to: formatBusinessDay(new Date(untilMs)) };
  ask('/accounts', 'all', {}, byAfter);
  ask('/accounts', 'prefix of usernames', { prefix: 'buyer-01' }, byAfter);
  const some: [string, string][] = [
    ['the largest buyer', name(buyers, 0)],
    ['the smallest buyer', name(buyers, -1)],
    ['the largest seller', name(sellers, 0)],
  ];
  for (const [words, username] of some) {
    ask('/accounts/{username}', words, {}, { params: { username } });
    ask('/accounts/{username}/statement', `${words}, 60 days`, period, { params: { username } });
    ask('/markups', `of ${words}`, { account: username }, byAfter);
  }
}
