/**
 * Adapter for Digiflazz: JSON over POST, with responses under `data`. `rc` decides the outcome.
 *
 * A status check sends the request of the order again. Within 60 s, the two requests could race;
 * after 90 days, Digiflazz buys again. The traits prevent both.
 */
import { createHash } from 'node:crypto';
import Joi from 'joi';
import { env } from '../../config/env.js';
import type {
  BillOutcome,
  BillQuery,
  MeterOutcome,
  ProviderAdapter,
  ProviderConnection,
  ProviderOrder,
  ProviderOutcome,
  ProviderTraits,
  Reading,
} from './adapter.js';
import {
  cleanMessage,
  parseJson,
  readJson,
  matchSchema,
  type JsonResponse,
  type StatusRules,
} from './json-response.js';
import { unsellableBillCode } from './check-bill.js';
import { isCallbackSigned, readCallback } from './digiflazz-callback.js';
import { billFields, toDigiflazzBill, type BillFields } from './digiflazz-bill.js';
import { getRcMeaning, isConsistent } from './digiflazz-response-codes.js';
import { readPriceList } from './digiflazz-price-list.js';
import { isAboutOrder, isSameNumber } from './is-about-order.js';
import {
  decidingBalance,
  informativeBalance,
  informativeRupiah,
  informativeText,
  quoteNumber,
} from './informative-fields.js';
import { callHttp, type HttpResponse, type HttpCall } from './http.js';
import { findCheckRefusal } from './status-check-schedule.js';

const isSandboxMode = env.APP_MODE === 'sandbox';
const dayMs = 86_400_000;

export const digiflazzTraits: ProviderTraits = {
  timeoutMs: isSandboxMode ? 3_000 : 40_000,
  longestLatencyMs: 600_000,
  inquiryMinIntervalMs: 60_000,
  inquiryMaxAgeMs: 7 * dayMs,
  resendIsInquiry: true,
};

interface Data {
  rc: string;
  ref_id?: string | null;
  status?: string | null;
  buyer_sku_code?: string | null;
  customer_no?: string | null;
  message?: string | null;
  sn?: string | null;
  price?: number | null;
  buyer_last_saldo?: number | null;
}
type BillData = Data & BillFields;
/**
 * A refusal with a 4xx status carries an `rc`. A 503 without an `rc` proves nothing, so its outcome
 * is unknown.
 */
const statusRules: StatusRules = { statusMax: 499, notTaken: [429] };
type Command = 'inq-pasca' | 'pay-pasca' | 'status-pasca';

const textSchema = Joi.string().allow('', null);
/**
 * `rc`, `ref_id` and `status` decide the outcome of an order, so they are strict. A stated product or
 * customer of another order makes the response unknown.
 */
const dataFields = {
  rc: Joi.string().required(),
  ref_id: textSchema,
  status: textSchema,
  buyer_sku_code: informativeText,
  customer_no: informativeText,
  message: informativeText,
  sn: informativeText,
  price: informativeRupiah,
  buyer_last_saldo: informativeBalance,
};
const bodySchema = Joi.object<{ data: Data }>({ data: Joi.object(dataFields).required() });
const billSchema = Joi.object<{ data: BillData }>({
  data: Joi.object({ ...dataFields, ...billFields }).required(),
});
const balanceSchema = Joi.object<{ data: { deposit: number } }>({
  data: Joi.object({
    deposit: decidingBalance.required(),
  }).required(),
});
interface MeterData {
  name: string;
  segment_power?: string | null;
  customer_no?: string | null;
  meter_no?: string | null;
  subscriber_id?: string | null;
}
const meterSchema = Joi.object<{ data: MeterData }>({
  data: Joi.object({
    rc: Joi.string().valid('00').required(),
    name: Joi.string().required(),
    segment_power: informativeText,
    customer_no: informativeText,
    meter_no: informativeText,
    subscriber_id: informativeText,
  }).required(),
});

/**
 * Creates the Digiflazz adapter.
 * @param noteFloat Called with our balance whenever a response contains it.
 */
export function createDigiflazzAdapter(
  noteFloat: (sellerId: string, amount: number) => void,
): ProviderAdapter {
  const transact = createTransact(noteFloat);

  const inquireBill = async (
    connection: ProviderConnection,
    query: BillQuery,
    timeoutMs = digiflazzTraits.timeoutMs,
  ): Promise<BillOutcome> => {
    const { answer, bill } = await transact(connection, query, { command: 'inq-pasca', timeoutMs });
    return readBill(answer, bill, query);
  };

  const payBill = async (
    connection: ProviderConnection,
    order: ProviderOrder & { billTotal: number },
  ): Promise<ProviderOutcome> => {
    // Digiflazz accepts a payment only after an inquiry under the same reference. The inquiry also
    // detects a changed bill. The lease of the order allows for one timeout, so each of the two
    // calls gets half of it.
    const timeoutMs = digiflazzTraits.timeoutMs / 2;
    const inquired = await inquireBill(connection, order, timeoutMs);
    switch (inquired.outcome) {
      case 'unavailable':
        return inquired.code === unsellableBillCode
          ? { ...inquired, outcome: 'refused', failover: 'no', clientCode: '01' }
          : { ...inquired, outcome: 'not-sent' };
      case 'refused':
        return { ...inquired, outcome: 'refused', failover: 'no' };
      case 'bill': {
        const { totalAmount } = inquired.bill;
        if (totalAmount !== order.billTotal) {
          return buildBillChangedOutcome(totalAmount);
        }
        // The inquiry may have used its half of the time, or this process may have been paused
        // since then.
        const sendBefore = order.sendBefore && new Date(order.sendBefore.getTime() + timeoutMs);
        const payment = { ...order, sendBefore };
        const { answer } = await transact(connection, payment, { command: 'pay-pasca', timeoutMs });
        return readOrder(answer, order, 'first');
      }
    }
  };

  return {
    kind: 'digiflazz',
    traits: digiflazzTraits,
    buy: async (connection, order) => readOrder((await transact(connection, order)).answer, order, 'first'),
    async inquire(connection, order) {
      const command = typeof order.billTotal === 'number' ? { command: 'status-pasca' as const } : {};
      return (
        findCheckRefusal(order, digiflazzTraits) ??
        readOrder((await transact(connection, order, command)).answer, order, 'check')
      );
    },
    inquireBill,
    payBill,
    balance: readBalance,
    priceList: (connection, wants) =>
      readPriceList(
        (cmd) => buildCall(connection, { path: 'price-list', suffix: 'pricelist' }, { cmd }),
        wants,
      ),
    inquireMeter,
    sendTestOrder,
    readCallback,
    readCallbackOutcome,
    isCallbackSigned,
  };
}

type Transact = (
  connection: ProviderConnection,
  order: BillQuery & { costMax?: number; sendBefore?: Date | null | undefined },
  options?: { command?: Command; timeoutMs?: number },
) => Promise<{ answer: JsonResponse<Data>; bill: JsonResponse<BillData> }>;

function createTransact(noteFloat: (sellerId: string, amount: number) => void): Transact {
  return async (connection, order, { command, timeoutMs } = {}) => {
    const sent = await post(
      connection,
      {
        path: 'transaction',
        suffix: order.providerRef,
        sendBefore: order.sendBefore,
        ...(timeoutMs && { timeoutMs }),
      },
      {
        buyer_sku_code: order.productCode,
        ...buildCustomerFields(order.customerNumber),
        ref_id: order.providerRef,
        ...(command ? { commands: command } : { max_price: order.costMax }),
        ...(isSandboxMode && { testing: true }),
      },
    );
    const http = sent.kind === 'answer' ? { ...sent, text: quoteNumber(sent.text, 'sn') } : sent;
    const answer = unwrapData(readJson(http, bodySchema, statusRules));
    if (answer.kind === 'read' && typeof answer.body.buyer_last_saldo === 'number') {
      noteFloat(connection.sellerId, answer.body.buyer_last_saldo);
    }
    return { answer, bill: unwrapData(readJson(http, billSchema, statusRules)) };
  };
}

/**
 * Returns the fields that name the customer. A vehicle tax number is written with the owner's
 * identity number of 16 digits, as in `9658548523568705,0212502110170100`.
 */
function buildCustomerFields(customerNumber: string): Record<string, string | boolean> {
  const { number = customerNumber, identity } =
    /^(?<number>[^,]+),(?<identity>\d{16})$/.exec(customerNumber)?.groups ?? {};
  return {
    customer_no: number,
    ...(identity !== undefined && { id_pelanggan2: identity }),
    ...(number.includes('.') && { allow_dot: true }),
  };
}

function post(...call: Parameters<typeof buildCall>): Promise<HttpResponse> {
  return callHttp(buildCall(...call));
}

function buildCall(
  connection: ProviderConnection,
  call: { path: string; suffix: string; timeoutMs?: number; sendBefore?: Date | null | undefined },
  body: Record<string, unknown>,
): HttpCall {
  const { username, secret, sellerId } = connection;
  const { path, suffix, timeoutMs = digiflazzTraits.timeoutMs, sendBefore } = call;
  const sign = createHash('md5').update(`${username}${secret}${suffix}`).digest('hex');
  return {
    method: 'POST',
    url: new URL(`${connection.baseUrl.replace(/\/+$/, '')}/${path}`),
    body: JSON.stringify({ username, ...body, sign }),
    timeoutMs,
    sellerId,
    sendBefore,
  };
}

function unwrapData<T>(answer: JsonResponse<{ data: T }>): JsonResponse<T> {
  return answer.kind === 'read' ? { kind: 'read', body: answer.body.data } : answer;
}

/**
 * @param sent `first` if the order was sent now. `check` if the call was a status check of an order
 *   sent earlier.
 */
function readOrder(
  answer: JsonResponse<Data>,
  order: ProviderOrder,
  sent: 'first' | 'check',
): ProviderOutcome {
  if (answer.kind !== 'read') {
    const { kind, code, message } = answer;
    return { outcome: kind === 'not-sent' && sent === 'first' ? 'not-sent' : 'unknown', code, message };
  }
  const { rc, status, sn, price } = answer.body;
  const code = rc.slice(0, 20);
  const message = cleanMessage(answer.body.message, `Response code ${code}`);
  const meaning = getRcMeaning(rc);
  if (!isConsistent(meaning.class, status) || !isAbout(answer.body, order)) {
    return { outcome: 'unknown', code, message: `Contradicting response: ${message}` };
  }
  switch (meaning.class) {
    case 'success':
      return { outcome: 'success', code, message, serialNumber: sn || null, cost: price ?? null };
    case 'pending':
      return { outcome: 'pending', code, message, serialNumber: sn || null };
    case 'unknown':
    case 'reversed':
    case 'review':
      return { outcome: meaning.class, code, message };
    case 'refused': {
      const { failover, clientCode, fault, aboutCall } = meaning;
      if (sent === 'check' && aboutCall) {
        // The float was too low for a *new* order, so Digiflazz does not know this reference. Other
        // faults say nothing about the order.
        return { outcome: fault === 'float' ? 'not-found' : 'unknown', code, message };
      }
      const isAnswered = sent === 'check' && failover === 'confirm';
      return {
        outcome: 'refused',
        code,
        message,
        failover: isAnswered ? 'yes' : failover,
        clientCode,
        ...(fault && { fault }),
      };
    }
  }
}

/** True if the response states no other reference, product or customer than those of the order. */
function isAbout(data: Data, order: BillQuery): boolean {
  const { ref_id: refId, buyer_sku_code: productCode = null, customer_no: stated = null } = data;
  const { customer_no: sent } = buildCustomerFields(order.customerNumber);
  const isAboutWith = (customerNumber: string) =>
    isAboutOrder({ productCode, customerNumber: stated }, { productCode: order.productCode, customerNumber });
  return (
    (!refId || refId === order.providerRef) &&
    (isAboutWith(String(sent)) || isAboutWith(order.customerNumber))
  );
}

function buildBillChangedOutcome(total: number): ProviderOutcome {
  return {
    outcome: 'refused',
    code: 'BILL_CHANGED',
    message: `Bill amount has changed to ${total}`,
    failover: 'no',
    clientCode: '01',
  };
}

function readBill(answer: JsonResponse<Data>, bill: JsonResponse<BillData>, query: BillQuery): BillOutcome {
  if (answer.kind !== 'read') {
    return { outcome: 'unavailable', code: answer.code, message: answer.message };
  }
  const { rc, status } = answer.body;
  const code = rc.slice(0, 20);
  const message = cleanMessage(answer.body.message, `Response code ${code}`);
  const meaning = getRcMeaning(rc);
  if (!isConsistent(meaning.class, status) || !isAbout(answer.body, query)) {
    return { outcome: 'unavailable', code, message: `Contradicting response: ${message}` };
  }
  if (meaning.class === 'success') {
    return bill.kind === 'read'
      ? toDigiflazzBill(bill.body)
      : {
          outcome: 'unavailable',
          code: unsellableBillCode,
          message: 'The amounts of the bill could not be read',
        };
  }
  if (meaning.class !== 'refused') {
    return { outcome: 'unavailable', code, message };
  }
  switch (meaning.clientCode) {
    case '04':
      return { outcome: 'refused', code, message, reason: 'wrong-number', clientCode: '04' };
    case '02':
      return code === '60'
        ? { outcome: 'refused', code, message, reason: 'no-bill', clientCode: '02' }
        : { outcome: 'refused', code, message, reason: 'not-sold', clientCode: '02' };
    default:
      return { outcome: 'unavailable', code, message };
  }
}

async function readBalance(connection: ProviderConnection): Promise<Reading<number>> {
  const http = await post(connection, { path: 'cek-saldo', suffix: 'depo' }, { cmd: 'deposit' });
  const answer = unwrapData(readJson(http, balanceSchema));
  if (answer.kind === 'read') {
    return { ok: true, value: answer.body.deposit };
  }
  const refusal = unwrapData(readJson(http, bodySchema, statusRules));
  return refusal.kind === 'read'
    ? { ok: false, code: refusal.body.rc, message: cleanMessage(refusal.body.message, 'Refused') }
    : { ok: false, code: answer.code, message: answer.message };
}

/**
 * Sends the order that the documentation gives for tests. `testing` is always true, also with real
 * money in production.
 */
async function sendTestOrder(connection: ProviderConnection, reference: string): Promise<ProviderOutcome> {
  const order = { providerRef: reference, productCode: 'xld10', customerNumber: '087800001230', costMax: 0 };
  const http = await post(
    connection,
    { path: 'transaction', suffix: reference },
    {
      buyer_sku_code: order.productCode,
      customer_no: order.customerNumber,
      ref_id: reference,
      testing: true,
    },
  );
  return readOrder(unwrapData(readJson(http, bodySchema, statusRules)), order, 'first');
}

async function inquireMeter(connection: ProviderConnection, meterNumber: string): Promise<MeterOutcome> {
  const http = await post(
    connection,
    { path: 'inquiry-pln', suffix: meterNumber },
    { customer_no: meterNumber },
  );
  const meter = unwrapData(readJson(http, meterSchema));
  if (meter.kind === 'read') {
    if (!isMeter(meter.body, meterNumber)) {
      return { outcome: 'unavailable', code: '00', message: 'The response is about another meter' };
    }
    return {
      outcome: 'meter',
      name: cleanMessage(meter.body.name, '-'),
      power: cleanMessage(meter.body.segment_power, '') || null,
    };
  }
  const answer = unwrapData(readJson(http, bodySchema, statusRules));
  if (answer.kind !== 'read') {
    return { outcome: 'unavailable', code: answer.code, message: answer.message };
  }
  const code = answer.body.rc.slice(0, 20);
  const message = cleanMessage(answer.body.message, `Response code ${code}`);
  const meaning = getRcMeaning(answer.body.rc);
  return meaning.class === 'refused' && meaning.clientCode === '04'
    ? { outcome: 'wrong-number', code, message }
    : { outcome: 'unavailable', code, message };
}

/** An inquiry names a meter by its own number or by that of its subscriber. */
function isMeter({ customer_no, meter_no, subscriber_id }: MeterData, meterNumber: string): boolean {
  const stated = [customer_no, meter_no, subscriber_id].filter((each) => each?.trim());
  return stated.length === 0 || stated.some((each) => isSameNumber(each ?? '', meterNumber));
}

/**
 * A webhook has the fields of a status response, and its signature covers the whole body. Only a
 * success, or a refusal with a code that is final by itself, is an outcome here.
 */
function readCallbackOutcome(raw: Buffer, order: ProviderOrder): ProviderOutcome | null {
  const text = quoteNumber(raw.toString('utf8'), 'sn');
  const body = matchSchema(bodySchema, parseJson(text))?.data;
  if (!body?.ref_id || !body.status || !body.buyer_sku_code || !body.customer_no) {
    return null;
  }
  const outcome = readOrder({ kind: 'read', body }, order, 'first');
  switch (outcome.outcome) {
    case 'success':
      return outcome;
    case 'refused':
      return outcome.failover === 'confirm' || outcome.fault ? null : outcome;
    default:
      return null;
  }
}
