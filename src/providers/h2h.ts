/**
 * Client of the reseller-software protocol (docs/reference/api/reseller.md). Requests are GET with
 * query parameters. The response has a code in `status`. This service also serves the protocol, so
 * one installation can be the provider of another. The simulator uses it too, with /inquiry and
 * /payment for bills.
 *
 * A code describes our order only together with `transaction_status`, or in response to the first
 * request. In response to a status check, the code may concern the check itself (a rate limit, a
 * rotated key). The outcome is then `unknown`, or `not-found` if the code shows that the order is
 * not known.
 */
import { createHash, createHmac } from 'node:crypto';
import Joi from 'joi';
import { env } from '../../config/env.js';
import type {
  BillOutcome,
  MeterOutcome,
  SimulatedEnd,
  ProviderAdapter,
  ProviderConnection,
  ProviderOrder,
  ProviderOutcome,
  ProviderTraits,
  Reading,
} from './adapter.js';
import { readBillPeriods } from './bill-periods.js';
import { toSellableBill } from './check-bill.js';
import { isAboutOtherOrder } from './echoed-order.js';
import { decidingBalance, decidingRupiah, informativeRupiah, informativeText } from './informative-fields.js';
import { readSimulatorLog } from './simulator-log.js';
import { cleanMessage, readJson, type JsonResponse, type StatusRules } from './json-response.js';
import { callHttp, type HttpCall, type HttpResponse } from './http.js';
import { isCallbackSigned, readCallback } from './h2h-callback.js';
import { readPriceList } from './h2h-price-list.js';
import { findCheckRefusal } from './status-check-schedule.js';

const isSandboxMode = env.APP_MODE === 'sandbox';
const dayMs = 86_400_000;

export const h2hTraits: ProviderTraits = {
  timeoutMs: isSandboxMode ? 3_000 : 30_000,
  longestLatencyMs: isSandboxMode ? 10_000 : 600_000,
  inquiryMinIntervalMs: isSandboxMode ? 500 : 2_000,
  // Reseller engines forget references after a few days, and would buy a forgotten order again.
  inquiryMaxAgeMs: 2 * dayMs,
  resendIsInquiry: true,
};

interface Body {
  status: string;
  message?: string | null;
  ref_id?: string | null;
  sn?: unknown;
  transaction_status?: string | null;
  /** Rupiah. */
  price?: number | null;
}
type OrderCall = 'request' | 'payment';
/**
 * Responses of the protocol have the HTTP status 200. Any other status comes from a proxy in front
 * of the engine.
 */
const statusRules: StatusRules = { statusMax: 299, notTaken: [429, 503] };

const textSchema = Joi.string().allow('', null);
const bodySchema = Joi.object<Body>({
  status: Joi.string().required(),
  message: informativeText,
  ref_id: textSchema,
  // Only informative, so every type is read.
  sn: Joi.any(),
  transaction_status: textSchema,
  price: informativeRupiah,
});
const balanceSchema = Joi.object<Body & { balance: number }>({
  status: Joi.string().valid('00').required(),
  balance: decidingBalance.required(),
});
/** Only the amounts must be readable. `price` is what the provider takes, if it says so. */
const billSchema = Joi.object<BillBody>({
  customer_name: informativeText,
  bill_period: informativeText,
  total_bill: decidingRupiah.required(),
  admin_fee: decidingRupiah.required(),
  total_amount: decidingRupiah.required(),
  price: decidingRupiah.allow(null),
});
const meterSchema = Joi.object<{ status: string; customer_name: string; power?: string | null }>({
  status: Joi.string().valid('00').required(),
  customer_name: Joi.string().required(),
  power: textSchema,
});
interface BillBody {
  customer_name?: string | null;
  bill_period?: string | null;
  total_bill: number;
  admin_fee: number;
  total_amount: number;
  price?: number | null;
}

/**
 * Creates an adapter for the reseller-software protocol.
 * @param kind The simulator uses the same protocol at another address, with additional calls.
 */
export function createH2hAdapter(kind: 'h2h' | 'simulator'): ProviderAdapter {
  return {
    kind,
    traits: h2hTraits,
    buy: async (connection, order) =>
      readOrderResponse(await send(connection, 'request', order), order, 'yes'),
    payBill: async (connection, order) =>
      readOrderResponse(await send(connection, 'payment', order), order, 'no'),
    inquire: (connection, order) => inquireOrder(connection, order, kind),
    inquireBill,
    balance: readBalance,
    priceList: (connection, wants) => readPriceList(buildPriceListCall(connection), wants),
    // Extensions of the protocol that only the simulator has.
    ...(kind === 'simulator' && { record: readSimulatorLog, inquireMeter, endOrder, sendTestOrder }),
    readCallback,
    isCallbackSigned,
  };
}

async function send(
  connection: ProviderConnection,
  call: OrderCall,
  order: ProviderOrder,
): Promise<JsonResponse<Body>> {
  const { productCode: code, customerNumber: customer, providerRef: refId, billTotal, costMax } = order;
  const url = buildAddress(connection, call, { suffix: refId, covered: `${code}|${customer}|${refId}` });
  url.searchParams.set('code', code);
  url.searchParams.set('customer', customer);
  url.searchParams.set('ref_id', refId);
  if (billTotal !== undefined && billTotal !== null) {
    url.searchParams.set('amount', String(billTotal));
  } else {
    // Status checks send `max_price` too, because a provider that does not know the order buys it.
    url.searchParams.set('max_price', String(costMax));
  }
  return readJson(await get(connection, url, order.sendBefore), bodySchema, statusRules);
}

function get({ sellerId }: ProviderConnection, url: URL, sendBefore?: Date | null): Promise<HttpResponse> {
  return callHttp({ method: 'GET', url, timeoutMs: h2hTraits.timeoutMs, sellerId, sendBefore });
}

function buildAddress(
  connection: ProviderConnection,
  path: string,
  signed: { suffix: string; covered: string },
): URL {
  const { username, secret, signWith } = connection;
  const url = new URL(`${connection.baseUrl.replace(/\/+$/, '')}/${path}`);
  url.searchParams.set('username', username);
  url.searchParams.set(
    'sign',
    signWith === 'md5'
      ? createHash('md5').update(`${username}${secret}${signed.suffix}`).digest('hex')
      : createHmac('sha256', secret).update(`${username}|${signed.covered}`).digest('hex'),
  );
  return url;
}

/**
 * @param failover Whether another seller may be tried after a refusal without a known reason: yes
 *   for a purchase, no for a bill.
 */
function readOrderResponse(
  answer: JsonResponse<Body>,
  order: ProviderOrder,
  failover: 'yes' | 'no',
): ProviderOutcome {
  if (answer.kind !== 'read') {
    const { kind, code, message } = answer;
    return { outcome: kind, code, message };
  }
  const about = readOrderStatus(answer.body, order, failover);
  if (about) {
    return about;
  }
  const { status: code } = answer.body;
  const buildAnswerFields = (otherwise: string) => ({
    code,
    message: cleanMessage(answer.body.message, otherwise),
  });
  switch (code) {
    case '01':
      return {
        outcome: 'refused',
        ...buildAnswerFields('The provider refused the order'),
        failover,
        clientCode: '01',
      };
    case '02':
      return { outcome: 'refused', ...buildAnswerFields('Not sold here'), failover: 'yes', clientCode: '02' };
    case '03':
      return {
        outcome: 'refused',
        ...buildAnswerFields('Under maintenance'),
        failover: 'yes',
        clientCode: '03',
        fault: 'outage',
      };
    case '04':
      return {
        outcome: 'refused',
        ...buildAnswerFields('Invalid customer number'),
        failover: 'no',
        clientCode: '04',
      };
    case '06':
      return {
        outcome: 'refused',
        ...buildAnswerFields('Too many requests'),
        failover: 'yes',
        clientCode: '03',
      };
    case '07':
      return {
        outcome: 'refused',
        ...buildAnswerFields('The provider does not accept our key'),
        failover: 'yes',
        clientCode: '03',
        fault: 'configuration',
      };
    default:
      return buildUnreadableOutcome(code);
  }
}

async function inquireOrder(
  connection: ProviderConnection,
  order: ProviderOrder,
  kind: 'h2h' | 'simulator',
): Promise<ProviderOutcome> {
  const refused = findCheckRefusal(order, h2hTraits);
  if (refused) {
    return refused;
  }
  const call = typeof order.billTotal === 'number' ? 'payment' : 'request';
  const answer = await send(connection, call, order);
  if (answer.kind !== 'read') {
    // A check that was not sent says nothing about the order, like a check whose response was lost.
    return { outcome: 'unknown', code: answer.code, message: answer.message };
  }
  const { status: code, message, transaction_status: state, ref_id: refId } = answer.body;
  if (kind === 'simulator' && state === 'reversed' && refId === order.providerRef) {
    return { outcome: 'reversed', code, message: cleanMessage(message, 'Reversed by the provider') };
  }
  return (
    readOrderStatus(answer.body, order, call === 'payment' ? 'no' : 'yes') ??
    (['01', '02', '04'].includes(code)
      ? { outcome: 'not-found', code, message: cleanMessage(message, 'Not known to the provider') }
      : { outcome: 'unknown', code, message: cleanMessage(message, 'The provider did not report a status') })
  );
}

/** Returns the outcome of the order itself, or null if the response concerns something else. */
function readOrderStatus(body: Body, order: ProviderOrder, failover: 'yes' | 'no'): ProviderOutcome | null {
  const { status: code, sn, transaction_status: state, ref_id: refId } = body;
  if (
    (typeof refId === 'string' && refId !== '' && refId !== order.providerRef) ||
    isAboutOtherOrder(body, order)
  ) {
    return buildUnreadableOutcome(code);
  }
  const cost = body.price ?? null;
  const serialNumber = readWrittenSerialNumber(sn);
  const message = cleanMessage(body.message, code === '00' ? 'Success' : 'No reason given');
  const isState = (expected: string) => state === expected || state === null || state === undefined;
  if (code === '05' && isState('pending')) {
    return { outcome: 'pending', code, message, serialNumber };
  }
  if (code === '00' && state === 'pending') {
    return { outcome: 'pending', code, message, serialNumber };
  }
  if (code === '00' && state === 'success') {
    return { outcome: 'success', code, message, serialNumber, cost };
  }
  if (code === '00' && isState('success')) {
    // Without a serial number and a state, the code 00 only means "accepted".
    return serialNumber === null
      ? { outcome: 'pending', code, message, serialNumber }
      : { outcome: 'success', code, message, serialNumber, cost, needsSerialNumber: true };
  }
  if (state === 'failed' && ['01', '02', '03', '04'].includes(code)) {
    const isCustomers = code === '04';
    const clientCode = code as '01' | '02' | '03' | '04';
    return { outcome: 'refused', code, message, failover: isCustomers ? 'no' : failover, clientCode };
  }
  // A state that is unknown or contradicts the code must not decide the outcome.
  return state === null || state === undefined ? null : buildUnreadableOutcome(code);
}

/** Engines also write serial numbers as JSON numbers. Longer ones than 2^53 have lost digits. */
function readWrittenSerialNumber(sn: unknown): string | null {
  if (typeof sn === 'number') {
    return Number.isSafeInteger(sn) ? String(sn) : null;
  }
  return typeof sn === 'string' && sn !== '' ? sn : null;
}

function buildUnreadableOutcome(code: string): ProviderOutcome {
  return {
    outcome: 'unknown',
    code: cleanMessage(code, 'UNREADABLE').slice(0, 20),
    message: "The provider's response could not be read",
  };
}

async function inquireBill(
  connection: ProviderConnection,
  query: Parameters<ProviderAdapter['inquireBill']>[1],
): Promise<BillOutcome> {
  const { productCode, customerNumber, providerRef } = query;
  const covered = `${productCode}|${customerNumber}|${providerRef}`;
  const url = buildAddress(connection, 'inquiry', { suffix: providerRef, covered });
  url.searchParams.set('code', productCode);
  url.searchParams.set('customer', customerNumber);
  url.searchParams.set('ref_id', providerRef);
  const answer = await get(connection, url);
  const read = readJson(answer, bodySchema);
  if (read.kind !== 'read') {
    return { outcome: 'unavailable', code: read.code, message: read.message };
  }
  const { status: code, ref_id: refId, transaction_status: state } = read.body;
  const message = cleanMessage(read.body.message, 'No bill');
  // The bill of another inquiry must not be quoted.
  if (code === '00' && ((refId && refId !== providerRef) || (state && state !== 'success'))) {
    return { outcome: 'unavailable', code, message: `Contradicting response: ${message}` };
  }
  switch (code) {
    case '00': {
      const bill = readJson(answer, billSchema);
      return bill.kind === 'read'
        ? toBill(bill.body)
        : { outcome: 'unavailable', code: bill.code, message: bill.message };
    }
    case '01':
      return { outcome: 'refused', code, message, reason: 'already-paid', clientCode: '01' };
    case '02':
      return { outcome: 'refused', code, message, reason: 'no-bill', clientCode: '02' };
    case '04':
      return { outcome: 'refused', code, message, reason: 'wrong-number', clientCode: '04' };
    default:
      return { outcome: 'unavailable', code: cleanMessage(code, 'UNREADABLE').slice(0, 20), message };
  }
}

function toBill(body: BillBody): BillOutcome {
  const written = cleanMessage(body.bill_period, '');
  const periods = readBillPeriods(written);
  const hasSeveral = periods !== null && periods.length > 1;
  return toSellableBill({
    customerName: cleanMessage(body.customer_name, '-'),
    billPeriod: periods?.at(-1) ?? null,
    totalBill: body.total_bill,
    adminFee: body.admin_fee,
    totalAmount: body.total_amount,
    details: hasSeveral ? { periods } : periods === null && written ? { periodText: written } : null,
    cost: body.price ?? null,
  });
}

async function inquireMeter(connection: ProviderConnection, meterNumber: string): Promise<MeterOutcome> {
  const url = buildAddress(connection, 'meter', { suffix: meterNumber, covered: meterNumber });
  url.searchParams.set('customer', meterNumber);
  const http = await get(connection, url);
  const meter = readJson(http, meterSchema);
  if (meter.kind === 'read') {
    return {
      outcome: 'meter',
      name: cleanMessage(meter.body.customer_name, '-'),
      power: cleanMessage(meter.body.power, '') || null,
    };
  }
  const answer = readJson(http, bodySchema);
  return answer.kind === 'read'
    ? {
        outcome: answer.body.status === '04' ? 'wrong-number' : 'unavailable',
        code: cleanMessage(answer.body.status, 'UNREADABLE').slice(0, 20),
        message: cleanMessage(answer.body.message, 'No such meter'),
      }
    : { outcome: 'unavailable', code: answer.code, message: answer.message };
}

async function endOrder(
  connection: ProviderConnection,
  { providerRef, end }: { providerRef: string; end: SimulatedEnd },
): Promise<'ended' | 'refused' | 'unavailable'> {
  const url = buildAddress(connection, 'end', { suffix: providerRef, covered: `${providerRef}|${end}` });
  url.searchParams.set('ref_id', providerRef);
  url.searchParams.set('result', end);
  const read = readJson(await get(connection, url), bodySchema);
  if (read.kind !== 'read') {
    return 'unavailable';
  }
  const { status } = read.body;
  return status === '00' ? 'ended' : ['01', '02'].includes(status) ? 'refused' : 'unavailable';
}

async function readBalance(connection: ProviderConnection): Promise<Reading<number>> {
  const url = buildAddress(connection, 'balance', { suffix: 'depo', covered: 'depo' });
  const answer = await get(connection, url);
  const read = readJson(answer, balanceSchema);
  if (read.kind === 'read') {
    return { ok: true, value: read.body.balance };
  }
  const refusal = readJson(answer, bodySchema);
  return refusal.kind === 'read' && refusal.body.status !== '00'
    ? {
        ok: false,
        code: cleanMessage(refusal.body.status, 'UNREADABLE').slice(0, 20),
        message: cleanMessage(refusal.body.message, 'Refused'),
      }
    : { ok: false, code: read.code, message: read.message };
}

/** Only the simulator of the sandbox gets it. A real engine at another address would buy. */
async function sendTestOrder(connection: ProviderConnection, reference: string): Promise<ProviderOutcome> {
  if (!isSandboxMode || env.SIMULATOR_URL === null || connection.baseUrl !== env.SIMULATOR_URL) {
    return {
      outcome: 'not-sent',
      code: 'NOT_SIMULATOR',
      message: 'Test purchases go only to the simulator at SIMULATOR_URL, in sandbox mode',
    };
  }
  const order = {
    providerRef: reference,
    productCode: 'S10',
    customerNumber: '081234567890',
    costMax: 1_000_000,
  };
  return readOrderResponse(await send(connection, 'request', order), order, 'no');
}

function buildPriceListCall(connection: ProviderConnection): HttpCall {
  const url = buildAddress(connection, 'price-list', { suffix: 'pricelist', covered: 'pricelist' });
  return { method: 'GET', url, timeoutMs: h2hTraits.timeoutMs, sellerId: connection.sellerId };
}
