import { env } from '../../config/env.js';
import { findScenario } from '../../config/sandbox-scenarios.js';
import { nowMs } from '../shared/clock.js';
import { toPrintableDeep } from '../shared/printable.js';
import { logger } from '../shared/logger.js';
import type {
  ProviderAdapter,
  ProviderConnection,
  ProviderOrder,
  ProviderOutcome,
  ProviderRecordRow,
} from './adapter.js';
import { callWhenAdmitted } from './admission.js';
import { busyCode } from './json-response.js';
import { openCircuit, recordCall } from './circuit.js';
import { observeOrder, sampleOrder } from './provider-metrics.js';
import { readSerialNumber, settleSerialNumber } from './serial-number.js';

/**
 * Wraps an adapter. Inquiries respect the provider's limits, and orders count for its circuit.
 * Every inquiry ends within the adapter's timeout plus `admissionWaitMaxMs`.
 *
 * `buy` and `payBill` take no admission, because `admitOrder` is called before the order is
 * written. A LateError does not count for the circuit.
 */
export function guardAdapter(unguarded: ProviderAdapter): ProviderAdapter {
  const adapter = withSerialNumbers(unguarded);
  const { inquireMeter, sendTestOrder } = adapter;
  const busy = { code: 'BUSY', message: 'Too many calls to the provider at once' };
  const guarded: ProviderAdapter = {
    ...adapter,
    buy: (connection, order) =>
      sendCounted({ adapter, connection, order, send: () => adapter.buy(connection, order) }),
    payBill: (connection, order) =>
      sendCounted({ adapter, connection, order, send: () => adapter.payBill(connection, order) }),
    inquire: async (connection, order) =>
      (await callWhenAdmitted(connection, () => adapter.inquire(connection, order))) ?? {
        outcome: 'unknown',
        ...busy,
      },
    inquireBill: async (connection, query) =>
      (await callWhenAdmitted(connection, () => adapter.inquireBill(connection, query))) ?? {
        outcome: 'unavailable',
        ...busy,
      },
    balance: async (connection) =>
      (await callWhenAdmitted(connection, () => adapter.balance(connection))) ?? { ok: false, ...busy },
    priceList: async (connection, wants) =>
      (await callWhenAdmitted(connection, () => adapter.priceList(connection, wants))) ?? {
        ok: false,
        ...busy,
      },
    ...(sendTestOrder && {
      sendTestOrder: async (connection, reference) =>
        (await callWhenAdmitted(connection, () => sendTestOrder(connection, reference))) ?? {
          outcome: 'not-sent',
          ...busy,
        },
    }),
    ...(inquireMeter && {
      inquireMeter: async (connection, meterNumber) =>
        (await callWhenAdmitted(connection, () => inquireMeter(connection, meterNumber))) ?? {
          outcome: 'unavailable',
          ...busy,
        },
    }),
  };
  return withPrintableResponses(guarded);
}

/** Every serial number of a provider passes through here before anything else sees the outcome. */
function withSerialNumbers(adapter: ProviderAdapter): ProviderAdapter {
  const { record, readCallbackOutcome } = adapter;
  const settle = async (connection: ProviderConnection, outcome: Promise<ProviderOutcome>) =>
    settleSerialNumber(await outcome, connection.serialPlaceholders ?? []);
  return {
    ...adapter,
    buy: (connection, order) => settle(connection, adapter.buy(connection, order)),
    inquire: (connection, order) => settle(connection, adapter.inquire(connection, order)),
    payBill: (connection, order) => settle(connection, adapter.payBill(connection, order)),
    ...(readCallbackOutcome && {
      readCallbackOutcome: (raw, order, connection) => {
        const outcome = readCallbackOutcome(raw, order, connection);
        return outcome && settleSerialNumber(outcome, connection.serialPlaceholders ?? []);
      },
    }),
    ...(record && {
      record: async (connection, period) => {
        const read = await record(connection, period);
        return read.ok ? { ok: true, value: read.value.map((row) => cleanRow(row, connection)) } : read;
      },
    }),
  };
}

function cleanRow(row: ProviderRecordRow, { serialPlaceholders }: ProviderConnection): ProviderRecordRow {
  return { ...row, serialNumber: readSerialNumber(row.serialNumber, serialPlaceholders ?? []) };
}

/**
 * Removes unprintable characters from provider text. All provider text passes through here before
 * it is stored, logged, shown on a terminal or written to a file.
 */
function withPrintableResponses(adapter: ProviderAdapter): ProviderAdapter {
  const { inquireMeter, readCallbackOutcome, record, sendTestOrder } = adapter;
  return {
    ...adapter,
    buy: async (...args) => toPrintableDeep(await adapter.buy(...args)),
    inquire: async (...args) => toPrintableDeep(await adapter.inquire(...args)),
    inquireBill: async (...args) => toPrintableDeep(await adapter.inquireBill(...args)),
    payBill: async (...args) => toPrintableDeep(await adapter.payBill(...args)),
    balance: async (...args) => toPrintableDeep(await adapter.balance(...args)),
    priceList: async (...args) => toPrintableDeep(await adapter.priceList(...args)),
    ...(inquireMeter && {
      inquireMeter: async (...args) => toPrintableDeep(await inquireMeter(...args)),
    }),
    ...(readCallbackOutcome && {
      readCallbackOutcome: (...args) => toPrintableDeep(readCallbackOutcome(...args)),
    }),
    ...(record && { record: async (...args) => toPrintableDeep(await record(...args)) }),
    ...(sendTestOrder && {
      sendTestOrder: async (...args) => toPrintableDeep(await sendTestOrder(...args)),
    }),
  };
}

async function sendCounted(sent: {
  adapter: ProviderAdapter;
  connection: ProviderConnection;
  order: ProviderOrder;
  send: () => Promise<ProviderOutcome>;
}): Promise<ProviderOutcome> {
  const { adapter, connection, order, send } = sent;
  const { sellerId } = connection;
  const startedAt = nowMs();
  const outcome = await send();
  const durationMs = nowMs() - startedAt;
  observeOrder({ provider: sellerId, outcome: outcome.outcome }, durationMs / 1_000);
  sampleOrder(sellerId, outcome.outcome, durationMs);
  const fault = outcome.outcome === 'refused' ? outcome.fault : undefined;
  if (fault === 'configuration' || fault === 'float') {
    logger.error('provider refuses orders: wrong settings or low float', { sellerId, code: outcome.code });
    await openCircuit(sellerId, fault);
  } else if (outcome.code !== busyCode && !isScenarioOrder(adapter.kind, order)) {
    await recordCall(sellerId, {
      ...judgeOutcome(outcome),
      slow: outcome.code === 'TIMEOUT' || durationMs >= adapter.traits.timeoutMs,
      startedAt,
      durationMs,
    });
  }
  return outcome;
}

/**
 * Returns how an outcome counts for the circuit. The refusal of one order proves that the provider
 * works. An outage is a failure.
 */
function judgeOutcome(outcome: ProviderOutcome): { failed: boolean; served: boolean } {
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

/**
 * True for sandbox numbers that play a scenario. Their outcomes say nothing about the provider
 * (docs/reference/api/sandbox.md).
 */
export function isScenarioOrder(kind: string, order: Pick<ProviderOrder, 'customerNumber'>): boolean {
  return (
    env.APP_MODE === 'sandbox' && kind === 'simulator' && findScenario(order.customerNumber) !== undefined
  );
}
