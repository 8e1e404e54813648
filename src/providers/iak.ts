/**
 * Adapter for IAK (formerly Mobilepulsa): JSON over POST, with responses under `data`. It has two
 * APIs with an address each, prepaid and postpaid (iak-call.ts). `rc` or `response_code` decides the
 * outcome, and the status must agree.
 *
 * A status check is a call of its own and never buys. IAK documents that a repeated top-up with the
 * same reference becomes a status check, but the adapter does not rely on it.
 */
import Joi from 'joi';
import { isSameSecret } from '../shared/is-same-secret.js';
import type { MeterOutcome, ProviderAdapter, ProviderConnection, Reading } from './adapter.js';
import { callHttp, type HttpResponse } from './http.js';
import { buildIakCall, fromIakRef, signIak, toIakRef } from './iak-call.js';
import { judgeIakAnswer, type IakAnswer } from './iak-outcome.js';
import { askPostpaid, findBill, payBill } from './iak-postpaid.js';
import { readIakPriceList } from './iak-price-list.js';
import {
  iakTraits,
  refSchema,
  statusRules,
  underData,
  type NoteFloat,
  type SentCall,
} from './iak-protocol.js';
import { getPrepaidMeaning } from './iak-response-codes.js';
import {
  decidingBalance,
  informativeBalance,
  informativeRupiah,
  informativeText,
  quoteNumber,
} from './informative-fields.js';
import { cleanMessage, matchSchema, parseJson, readJson, type JsonResponse } from './json-response.js';
import { isSameNumber } from './is-about-order.js';
import { readSerialNumber } from './serial-number.js';
import { findCheckRefusal } from './status-check-schedule.js';

interface PrepaidData {
  rc: string;
  ref_id?: string | null;
  status?: string | null;
  message?: string | null;
  product_code?: string | null;
  customer_id?: string | null;
  sn?: string | null;
  /** The code of some game vouchers. */
  pin?: string | null;
  price?: number | null;
  balance?: number | null;
}
/** Only code and reference decide about an order by their type, so only they are strict. */
const prepaidSchema = underData(
  Joi.object<PrepaidData>({
    rc: Joi.string().required(),
    ref_id: refSchema,
    status: informativeText,
    message: informativeText,
    product_code: informativeText,
    customer_id: informativeText,
    sn: informativeText,
    pin: informativeText,
    price: informativeRupiah,
    balance: informativeBalance,
  }),
);
const balanceSchema = underData(
  Joi.object<{ rc: string; balance: number }>({
    rc: Joi.valid('00').required(),
    balance: decidingBalance.required(),
  }),
);
interface Meter {
  rc: string;
  status: string | number;
  name: string;
  segment_power?: string | null;
  customer_id?: string | null;
  meter_no?: string | null;
}
const meterSchema = underData(
  Joi.object<Meter>({
    rc: Joi.valid('00').required(),
    status: Joi.valid('1', 1).required(),
    name: Joi.string().required(),
    segment_power: informativeText,
    customer_id: informativeText,
    meter_no: informativeText,
  }),
);

/**
 * Creates the IAK adapter.
 * @param noteFloat Called with our balance whenever a response contains it.
 */
export function createIakAdapter(noteFloat: NoteFloat): ProviderAdapter {
  return {
    kind: 'iak',
    traits: iakTraits,
    async buy(connection, order) {
      const fields = { customer_id: order.customerNumber, product_code: order.productCode };
      const call = { path: 'api/top-up', fields, noteFloat };
      return judgeIakAnswer(await askPrepaid(connection, order, call), order, 'buy');
    },
    async inquire(connection, order) {
      const refusal = findCheckRefusal(order, iakTraits);
      if (refusal) {
        return refusal;
      }
      // A status check cannot buy, so the deadline of the order does not concern it. Its balance is
      // the one after that order, which is not today's.
      const asked = { providerRef: order.providerRef };
      if (typeof order.billTotal === 'number') {
        const fields = { commands: 'checkstatus', ref_id: toIakRef(order.providerRef) };
        const { answer } = await askPostpaid(connection, asked, { suffix: 'cs', fields });
        return judgeIakAnswer(answer, order, 'check-postpaid');
      }
      const answer = await askPrepaid(connection, asked, { path: 'api/check-status' });
      return judgeIakAnswer(answer, order, 'check-prepaid');
    },
    inquireBill: async (connection, query) => (await findBill(connection, query, noteFloat)).outcome,
    payBill: (connection, order) => payBill(connection, order, noteFloat),
    balance: readBalance,
    priceList: (connection, wants) => readIakPriceList(buildPriceListCalls(connection), wants),
    inquireMeter,
    fromProviderRef: fromIakRef,
    readCallback,
    isCallbackSigned,
  };
}

async function askPrepaid(
  connection: ProviderConnection,
  { providerRef, sendBefore }: SentCall,
  { path, fields, noteFloat }: { path: string; fields?: object; noteFloat?: NoteFloat },
): Promise<JsonResponse<IakAnswer>> {
  const refId = toIakRef(providerRef);
  const call = { api: 'prepaid' as const, path, suffix: refId, timeoutMs: iakTraits.timeoutMs, sendBefore };
  const http = await callHttp(buildIakCall(connection, call, { ref_id: refId, ...fields }));
  const quoted =
    http.kind === 'answer' ? { ...http, text: quoteNumber(quoteNumber(http.text, 'sn'), 'pin') } : http;
  const read = readJson(quoted, prepaidSchema, statusRules);
  if (read.kind !== 'read') {
    return read;
  }
  const { rc: code, ref_id, status, message, sn, pin, price, balance, ...stated } = read.body.data;
  if (typeof balance === 'number') {
    noteFloat?.(connection.sellerId, balance);
  }
  const meaning = getPrepaidMeaning(code);
  return {
    kind: 'read',
    body: {
      code,
      meaning,
      refId: ref_id,
      status,
      message,
      serialNumber: joinSerialNumber(sn, pin),
      cost: price,
      productCode: stated.product_code,
      customerNumber: stated.customer_id,
    },
  };
}

/** Some game vouchers have a PIN as well, without which they cannot be used. */
function joinSerialNumber(...parts: (string | null | undefined)[]): string | null {
  return parts.flatMap((each) => readSerialNumber(each ?? null) ?? []).join('/') || null;
}

function buildPriceListCalls(connection: ProviderConnection) {
  const call = { suffix: 'pl', timeoutMs: iakTraits.timeoutMs };
  const prepaid = { ...call, api: 'prepaid' as const, path: 'api/pricelist' };
  const postpaid = { ...call, api: 'postpaid' as const, path: 'api/v1/bill/check' };
  return {
    prepaid: buildIakCall(connection, prepaid, { status: 'all' }),
    postpaid: buildIakCall(connection, postpaid, { commands: 'pricelist-pasca', status: 'all' }),
  };
}

/** Both APIs use the same balance. */
async function readBalance(connection: ProviderConnection): Promise<Reading<number>> {
  const path = 'api/check-balance';
  const call = { api: 'prepaid' as const, path, suffix: 'bl', timeoutMs: iakTraits.timeoutMs };
  const http = await callHttp(buildIakCall(connection, call, {}));
  const read = readJson(http, balanceSchema);
  return read.kind === 'read'
    ? { ok: true, value: read.body.data.balance }
    : { ok: false, ...describeRefusal(http, read) };
}

/** Returns the code and message of a refusal, or else why the response could not be read. */
function describeRefusal(
  http: HttpResponse,
  { code, message }: { code: string; message: string },
): { code: string; message: string } {
  const read = readJson(http, prepaidSchema, statusRules);
  if (read.kind !== 'read' || read.body.data.rc === '00') {
    return { code, message };
  }
  const rc = read.body.data.rc.slice(0, 20);
  return { code: rc, message: cleanMessage(read.body.data.message, `Response code ${rc}`) };
}

async function inquireMeter(connection: ProviderConnection, meterNumber: string): Promise<MeterOutcome> {
  const path = 'api/inquiry-pln';
  const call = { api: 'prepaid' as const, path, suffix: meterNumber, timeoutMs: iakTraits.timeoutMs };
  const http = await callHttp(buildIakCall(connection, call, { customer_id: meterNumber }));
  const meter = readJson(http, meterSchema);
  if (meter.kind === 'read') {
    const { name, segment_power: power, customer_id, meter_no } = meter.body.data;
    const stated = [customer_id, meter_no].filter((each) => each?.trim());
    if (stated.length > 0 && !stated.some((each) => each && isSameNumber(each, meterNumber))) {
      return { outcome: 'unavailable', code: 'OTHER_METER', message: 'The response is about another meter' };
    }
    return { outcome: 'meter', name: cleanMessage(name, '-'), power: cleanMessage(power, '') || null };
  }
  const answer = readJson(http, prepaidSchema, statusRules);
  if (answer.kind !== 'read') {
    return { outcome: 'unavailable', code: answer.code, message: answer.message };
  }
  const code = answer.body.data.rc.slice(0, 20);
  const message = cleanMessage(answer.body.data.message, `Response code ${code}`);
  const meaning = getPrepaidMeaning(answer.body.data.rc);
  return meaning.class === 'refused' && meaning.clientCode === '04'
    ? { outcome: 'wrong-number', code, message }
    : { outcome: 'unavailable', code, message };
}

const callbackStatuses = { '0': 'pending', '1': 'success', '2': 'failed' } as const;
const callbackSchema = underData(
  Joi.object<{ ref_id: string; status: keyof typeof callbackStatuses; sign: string }>({
    ref_id: Joi.string().min(1).max(64).required(),
    status: Joi.string()
      .valid(...Object.keys(callbackStatuses))
      .required(),
    sign: Joi.string().max(64).required(),
  }),
);

function parseCallback(raw: Buffer) {
  return matchSchema(callbackSchema, parseJson(raw.toString('utf8')))?.data ?? null;
}

function readCallback(raw: Buffer): ReturnType<ProviderAdapter['readCallback']> {
  const data = parseCallback(raw);
  return (
    data && { kind: 'result', providerRef: fromIakRef(data.ref_id), status: callbackStatuses[data.status] }
  );
}

/**
 * The signature is in the body and covers only the reference, not the status or the serial number.
 * So a callback of IAK proves no outcome. It only triggers a status check.
 */
function isCallbackSigned(...[connection, raw]: Parameters<ProviderAdapter['isCallbackSigned']>): boolean {
  const data = parseCallback(raw);
  return data !== null && isSameSecret(data.sign.toLowerCase(), signIak(connection, data.ref_id));
}
