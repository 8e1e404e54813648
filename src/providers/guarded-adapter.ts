import { env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import type { ProviderAdapter, ProviderConnection, ProviderOrder, ProviderOutcome } from './adapter.js';
import { admitted } from './admission.js';
import { openCircuit, recordCall } from './circuit.js';

/**
 * An adapter whose calls keep to the provider's limits, and whose orders count for its circuit. Every call ends
 * within the adapter's time-out plus `admissionWaitMaxMs`.
 */
export function guardedAdapter(adapter: ProviderAdapter): ProviderAdapter {
  const { inquireMeter } = adapter;
  const busy = { code: 'BUSY', message: 'Too many calls to the provider at once' };
  const sendOrder = async (
    connection: ProviderConnection,
    order: ProviderOrder,
    send: () => Promise<ProviderOutcome>,
  ): Promise<ProviderOutcome> => {
    const outcome = await admitted(connection, () => counted({ adapter, connection, order, send }));
    return outcome ?? { outcome: 'not-sent', ...busy };
  };
  return {
    ...adapter,
    buy: (connection, order) => sendOrder(connection, order, () => adapter.buy(connection, order)),
    payBill: (connection, order) => sendOrder(connection, order, () => adapter.payBill(connection, order)),
    inquire: async (connection, order) =>
      (await admitted(connection, () => adapter.inquire(connection, order))) ?? {
        outcome: 'unknown',
        ...busy,
      },
    inquireBill: async (connection, query) =>
      (await admitted(connection, () => adapter.inquireBill(connection, query))) ?? {
        outcome: 'unavailable',
        ...busy,
      },
    balance: async (connection) =>
      (await admitted(connection, () => adapter.balance(connection))) ?? { ok: false, ...busy },
    priceList: async (connection) =>
      (await admitted(connection, () => adapter.priceList(connection))) ?? { ok: false, ...busy },
    ...(inquireMeter && {
      inquireMeter: async (connection, meterNumber) =>
        (await admitted(connection, () => inquireMeter(connection, meterNumber))) ?? { ok: false, ...busy },
    }),
  };
}

async function counted(sent: {
  adapter: ProviderAdapter;
  connection: ProviderConnection;
  order: ProviderOrder;
  send: () => Promise<ProviderOutcome>;
}): Promise<ProviderOutcome> {
  const { adapter, connection, order, send } = sent;
  const { sellerId } = connection;
  const startedAt = nowMs();
  const outcome = await send();
  const fault = outcome.outcome === 'refused' ? outcome.fault : undefined;
  if (fault === 'configuration' || fault === 'float') {
    logger.error('the provider refuses for a reason that is ours', { sellerId, code: outcome.code });
    await openCircuit(sellerId, fault);
  } else if (!isPlayed(adapter, order)) {
    const durationMs = nowMs() - startedAt;
    await recordCall(sellerId, {
      ...judge(outcome),
      slow: outcome.code === 'TIMEOUT' || durationMs >= adapter.traits.timeoutMs,
      startedAt,
      durationMs,
    });
  }
  return outcome;
}

/** A refusal of one order shows a provider that works; one that serves nobody does not. */
function judge(outcome: ProviderOutcome): { failed: boolean; served: boolean } {
  switch (outcome.outcome) {
    case 'unknown':
    case 'not-sent':
      return { failed: true, served: false };
    case 'refused':
      return { failed: outcome.fault === 'outage', served: outcome.failover === 'no' };
    case 'success':
    case 'pending':
      return { failed: false, served: true };
    case 'not-found':
    case 'reversed':
    case 'review':
      return { failed: false, served: false };
  }
}

/** Numbers that play a story in the sandbox say nothing about the provider (docs/interface.md#sandbox). */
function isPlayed(adapter: ProviderAdapter, order: ProviderOrder): boolean {
  return (
    env.APP_MODE === 'sandbox' &&
    adapter.kind === 'simulator' &&
    /(123[0-7]|124[0-5])$/.test(order.customerNumber)
  );
}
