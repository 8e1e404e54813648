/**
 * The provider calls, from query parameters to a reply: those of docs/reference/api/reseller.md,
 * /inquiry and /payment for bills, /meter for names, and /end for testers.
 */
import type { BillDesk } from './bill.js';
import { meterOf } from './meter.js';
import { listPrices } from './price-list.js';
import { answer, type Reply } from './reply.js';
import type { Behaviour, SettingsHolder } from './settings.js';
import { isSignValid, type SignedParts } from './verify-sign.js';
import type { OrderDesk } from './take-order.js';

export const callNames = ['request', 'price-list', 'balance', 'meter', 'inquiry', 'payment', 'end'] as const;
export type CallName = (typeof callNames)[number];

export interface ProviderCallParts {
  settings: SettingsHolder;
  orders: OrderDesk;
  bills: BillDesk;
  random: () => number;
  secret: string;
  now: () => number;
}

type Query = Partial<Record<string, string>>;

/** Returns the reply and its delay. Any execution is complete when this function returns. */
export function createProviderCalls(parts: ProviderCallParts) {
  const { settings, orders, bills, random, secret, now } = parts;
  const startedAt = now();
  const isRaised = (behaviour: Behaviour) => now() - startedAt >= behaviour.price_raise_ms;
  let downCalls = 0;
  const down = (): Reply => (downCalls++ % 2 === 0 ? { kind: 'unavailable' } : { kind: 'cut' });

  const perform = (name: CallName, query: Query, behaviour: Behaviour): Reply => {
    const provider = query['username'] ?? '';
    switch (name) {
      case 'price-list':
        return answer('00', { data: listPrices({ ...query, provider, isRaised: isRaised(behaviour) }) });
      case 'balance':
        return answer('00', { balance: behaviour.balance, currency: 'IDR' });
      case 'meter': {
        const meter = meterOf(query['customer'] ?? '');
        return typeof meter === 'string' ? answer(meter, {}) : answer('00', { ...meter });
      }
      case 'end': {
        const { ref_id: refId = '', result } = query;
        return result === 'success' || result === 'failed' || result === 'reversed'
          ? orders.end({ provider, refId }, result, behaviour)
          : answer('01', { message: 'result must be success, failed or reversed' });
      }
      case 'inquiry':
      case 'payment':
      case 'request': {
        const order = readOrder(query);
        if ('kind' in order) {
          return order;
        }
        return name === 'inquiry'
          ? inquire({ provider, ...order }, bills)
          : orders.take({ kind: name, provider, ...order }, behaviour);
      }
    }
  };

  return (name: CallName, search: URLSearchParams): { reply: Reply; delayMs: number } => {
    const query = readQuery(search);
    if (typeof query === 'string') {
      return { reply: answer('01', { message: query }), delayMs: 0 };
    }
    const behaviour = settings.behaviourOf(query['username'] ?? '');
    const addLatency = (reply: Reply) => ({ reply, delayMs: behaviour.latency_ms });
    if (behaviour.down) {
      return { reply: down(), delayMs: 0 };
    }
    if (!isAuthentic(name, query, secret)) {
      return addLatency(answer('07', {}));
    }
    if (behaviour.answer_with !== null) {
      return addLatency(answer(behaviour.answer_with, {}));
    }
    switch (rollFault(behaviour.fault_rate, random)) {
      case 'unavailable':
        return { reply: { kind: 'unavailable' }, delayMs: 0 };
      case 'cut':
        return { reply: { kind: 'cut' }, delayMs: 0 };
      case 'answer lost':
        perform(name, query, behaviour);
        return addLatency({ kind: 'cut' });
      case null:
        return addLatency(perform(name, query, behaviour));
    }
  };
}

function rollFault(rate: number, random: () => number): 'unavailable' | 'cut' | 'answer lost' | null {
  if (rate === 0 || random() >= rate) {
    return null;
  }
  const kinds = ['unavailable', 'cut', 'answer lost'] as const;
  return kinds[Math.floor(random() * kinds.length)] ?? 'cut';
}

/**
 * Empty parameters count as absent. A repeated parameter is ambiguous, so an error message is
 * returned.
 */
function readQuery(search: URLSearchParams): Query | string {
  const query = new Map<string, string>();
  for (const [name, value] of search) {
    if (query.has(name)) {
      return `${name} is given twice`;
    }
    query.set(name, value);
  }
  return Object.fromEntries([...query].filter(([, value]) => value !== ''));
}

function isAuthentic(name: CallName, query: Query, secret: string): boolean {
  const { username, sign } = query;
  if (username === undefined || sign === undefined || !/^[A-Za-z0-9._-]{1,64}$/.test(username)) {
    return false;
  }
  return isSignValid(sign, { username, ...signedParts(name, query) }, secret);
}

function signedParts(name: CallName, query: Query): Omit<SignedParts, 'username'> {
  switch (name) {
    case 'price-list':
      return { suffix: 'pricelist', covered: 'pricelist' };
    case 'balance':
      return { suffix: 'depo', covered: 'depo' };
    case 'meter': {
      const { customer = '' } = query;
      return { suffix: customer, covered: customer };
    }
    case 'end': {
      const { ref_id: refId = '', result = '' } = query;
      return { suffix: refId, covered: `${refId}|${result}` };
    }
    case 'request':
    case 'inquiry':
    case 'payment': {
      const { code = '', customer = '', ref_id: refId = '' } = query;
      return { suffix: refId, covered: `${code}|${customer}|${refId}` };
    }
  }
}

interface OrderParameters {
  code: string;
  customer: string;
  refId: string;
  agreed: number | null;
}

function readOrder({ code, customer, ref_id: refId, amount }: Query): OrderParameters | Reply {
  if (refId === undefined || !/^[A-Za-z0-9._:-]{1,64}$/.test(refId)) {
    return answer('01', { message: 'ref_id is missing or not valid' });
  }
  const about = { ref_id: refId, sn: null };
  if (code === undefined || !/^[A-Za-z0-9._-]{1,50}$/.test(code)) {
    return answer('01', { message: 'code is missing or not valid', ...about });
  }
  if (customer === undefined || !/^[0-9A-Za-z.,|@_-]{4,50}$/.test(customer)) {
    return answer('04', about);
  }
  if (amount !== undefined && !/^\d{1,15}$/.test(amount)) {
    return answer('01', { message: 'amount is not a whole number of rupiah', ...about });
  }
  return { code, customer, refId, agreed: amount === undefined ? null : Number(amount) };
}

function inquire(asked: OrderParameters & { provider: string }, bills: BillDesk): Reply {
  const bill = bills.inquire(asked);
  return 'status' in bill
    ? answer(bill.status, { message: bill.message, ref_id: asked.refId })
    : answer('00', { ref_id: asked.refId, ...bill });
}
