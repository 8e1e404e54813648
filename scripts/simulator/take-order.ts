/**
 * A purchase or payment, accepted once per (provider, ref_id). Each later call with the same
 * reference is a status check.
 */
import { messages, type AnswerBody, type AnswerReply, type Reply, answer } from './reply.js';
import { downTries, hiddenChecks, findScenario } from '../../config/sandbox-scenarios.js';
import { planOf } from './plan.js';
import { serialNumberOf } from './serial-number.js';
import type { Behaviour } from './settings.js';
import type { BillDesk } from './bill.js';
import type { Order, OrderBook } from './order-book.js';

export interface OrderCall {
  kind: Order['kind'];
  provider: string;
  refId: string;
  code: string;
  customer: string;
  /** For payments, the total in rupiah that the payer expects. Null if the payer names none. */
  agreed: number | null;
}

/** Final states that GET /end can set. */
export type OrderEnd = 'success' | 'failed' | 'reversed';

export interface OrderDesk {
  take(call: OrderCall, behaviour: Behaviour): Reply;
  /**
   * Ends an order now; the next status check reports it. `reversed` reverses a success. Returns 00,
   * even if the order already ended the same way. Returns 01 if it ended differently, and 02 if the
   * order is unknown.
   */
  end(call: Pick<OrderCall, 'provider' | 'refId'>, as: OrderEnd, behaviour: Behaviour): Reply;
}

interface OrderDeskParts {
  book: OrderBook;
  bills: BillDesk;
  random: () => number;
  now: () => number;
  /** Called for every newly accepted order. */
  onTaken: (order: Order, behaviour: Behaviour) => void;
}

/**
 * Accepts orders. The number of calls per reference is kept only in memory, so a restart resets the
 * scenarios 1236 and 1237.
 */
export function createOrderDesk({ book, bills, random, now, onTaken }: OrderDeskParts): OrderDesk {
  const calls = new Map<string, number>();
  // A final state that was reported to the caller, or requested by GET /end, does not change.
  const reported = new Set<Order>();
  const countCall = (call: OrderCall): number => {
    const key = `${call.provider}\n${call.refId}`;
    const count = (calls.get(key) ?? 0) + 1;
    calls.set(key, count);
    return count;
  };

  const report = (order: Order, answerOf: (order: Order, at: number) => AnswerReply): Reply => {
    const reply = answerOf(order, now());
    if (reply.body.transaction_status !== 'pending') {
      reported.add(order);
    }
    return reply;
  };

  const takeNew = (call: OrderCall, behaviour: Behaviour): Reply => {
    if (findScenario(call.customer)?.isDown) {
      const tries = countCall(call);
      if (tries <= downTries) {
        return tries % 2 === 1 ? { kind: 'unavailable' } : { kind: 'cut' };
      }
    }
    const refusal = call.kind === 'payment' ? bills.refusePayment(call, call.agreed) : null;
    const order = buildOrder(call, { behaviour, refusal, random, now: now() });
    book.add(order);
    onTaken(order, behaviour);
    return order.plan === 'silent' ? { kind: 'silence' } : report(order, firstAnswer);
  };

  const check = (order: Order, call: OrderCall): Reply => {
    if (order.kind !== call.kind || order.code !== call.code || order.customer !== call.customer) {
      const message = 'ref_id is already used with another product or customer';
      return answer('01', { message, ref_id: call.refId, sn: null });
    }
    if (order.plan === 'hidden' && countCall(call) <= hiddenChecks) {
      return answer('02', { message: 'Transaction not found', ref_id: call.refId, sn: null });
    }
    return report(order, laterAnswer);
  };

  const end: OrderDesk['end'] = ({ provider, refId }, as, behaviour) => {
    const order = book.find(provider, refId);
    if (!order) {
      return answer('02', { message: 'Transaction not found', ref_id: refId });
    }
    const status = statusOf(order, now());
    const isPossible = as === 'reversed' ? status === 'success' : !reported.has(order);
    if (status !== as && !isPossible) {
      return answer('01', { message: `The order is ${status}`, ref_id: refId });
    }
    if (status !== as || !reported.has(order)) {
      const ended = endOrder(order, as, now());
      book.replace(ended);
      reported.add(ended);
      onTaken(ended, behaviour);
    }
    return answer('00', { ref_id: refId });
  };

  return {
    end,
    take(call, behaviour) {
      const known = book.find(call.provider, call.refId);
      return known ? check(known, call) : takeNew(call, behaviour);
    },
  };
}

/** Returns the visible state of an order, which follows from its plan and the time. */
export function statusOf(order: Order, now: number): 'pending' | 'success' | 'failed' | 'reversed' {
  switch (order.plan) {
    case 'success':
    case 'silent':
    case 'hidden':
      return 'success';
    case 'refused':
    case 'ended-failed':
      return 'failed';
    case 'held':
      return 'pending';
    case 'reversed':
      return 'reversed';
    case 'pending-success':
      return now < Date.parse(order.final_at) ? 'pending' : 'success';
    case 'pending-refused':
      return now < Date.parse(order.final_at) ? 'pending' : 'failed';
  }
}

function endOrder(order: Order, as: OrderEnd, now: number): Order {
  const ends = {
    success: { plan: 'success', reason: null },
    failed: { plan: 'ended-failed', reason: 'Ended as failed in the sandbox' },
    reversed: { plan: 'reversed', reason: 'Reversed in the sandbox' },
  } as const;
  return { ...order, ...ends[as], final_at: new Date(now).toISOString() };
}

function buildOrder(
  call: OrderCall,
  by: { behaviour: Behaviour; refusal: string | null; random: () => number; now: number },
): Order {
  const plan = by.refusal === null ? planOf(call, by.behaviour, by.random) : 'refused';
  const isLater = plan === 'pending-success' || plan === 'pending-refused' || plan === 'hidden';
  const isRefused = plan === 'refused' || plan === 'pending-refused';
  return {
    at: new Date(by.now).toISOString(),
    kind: call.kind,
    provider: call.provider,
    ref_id: call.refId,
    code: call.code,
    customer: call.customer,
    plan,
    reason: isRefused ? (by.refusal ?? 'Refused by the operator') : null,
    final_at: new Date(by.now + (isLater ? by.behaviour.pending_ms : 0)).toISOString(),
  };
}

/**
 * Returns the response to the accepting call. While the order is pending, it is 00 without a serial
 * number.
 */
function firstAnswer(order: Order, now: number): AnswerReply {
  const status = order.plan === 'hidden' ? 'pending' : statusOf(order, now);
  return status === 'pending' ? orderAnswer(order, status, '00') : laterAnswer(order, now);
}

function laterAnswer(order: Order, now: number): AnswerReply {
  const status = statusOf(order, now);
  switch (status) {
    case 'pending':
      return orderAnswer(order, status, '05');
    case 'success':
      return orderAnswer(order, status, '00');
    case 'failed':
      // Code 04 prevents the service from trying another seller.
      return orderAnswer(order, status, order.plan === 'ended-failed' ? '04' : '01');
    case 'reversed':
      return orderAnswer(order, status, '01');
  }
}

function orderAnswer(
  order: Order,
  purchaseStatus: NonNullable<AnswerBody['transaction_status']>,
  code: '00' | '01' | '04' | '05',
): AnswerReply {
  return answer(code, {
    message: order.reason !== null && (code === '01' || code === '04') ? order.reason : messages[code],
    ref_id: order.ref_id,
    sn: purchaseStatus === 'success' ? serialNumberOf(order) : null,
    transaction_status: purchaseStatus,
  });
}
