/** Bills at IAK: an inquiry under our reference, then a payment of that inquiry by its id. */
import Joi from 'joi';
import type {
  BillOutcome,
  BillQuery,
  ProviderConnection,
  ProviderOrder,
  ProviderOutcome,
} from './adapter.js';
import { unsellableBillCode } from './check-bill.js';
import { callHttp } from './http.js';
import { iakBillFields, toIakBill, type IakBillFields } from './iak-bill.js';
import { buildIakCall, toIakRef } from './iak-call.js';
import { judgeIakAnswer, toRefusedBill, type IakAnswer } from './iak-outcome.js';
import {
  iakTraits,
  refSchema,
  statusRules,
  underData,
  type NoteFloat,
  type SentCall,
} from './iak-protocol.js';
import { getPostpaidMeaning, type IakMeaning } from './iak-response-codes.js';
import { informativeBalance, informativeRupiah, informativeText, quoteNumber } from './informative-fields.js';
import { isAboutOrder } from './is-about-order.js';
import { cleanMessage, readJson, type JsonResponse } from './json-response.js';

interface PostpaidData {
  response_code: string;
  ref_id?: string | null;
  tr_id?: string | null;
  status?: string | null;
  message?: string | null;
  code?: string | null;
  hp?: string | null;
  datetime?: string | null;
  noref?: string | null;
  selling_price?: number | null;
  balance?: number | null;
}

const postpaidFields = {
  response_code: Joi.string().required(),
  ref_id: refSchema,
  tr_id: informativeText,
  status: informativeText,
  message: informativeText,
  code: informativeText,
  hp: informativeText,
  datetime: informativeText,
  noref: informativeText,
  selling_price: informativeRupiah,
  balance: informativeBalance,
};
const postpaidSchema = underData(Joi.object<PostpaidData>(postpaidFields));
const billSchema = underData(
  Joi.object<PostpaidData & IakBillFields>({ ...postpaidFields, ...iakBillFields }),
);
interface PostpaidAnswer {
  answer: JsonResponse<IakAnswer>;
  /** IAK's id of the inquiry, if the response has one. */
  inquiryId: string | null;
  bill: IakBillFields | null;
}

export async function askPostpaid(
  connection: ProviderConnection,
  { sendBefore }: SentCall,
  given: { suffix: string; fields: object; noteFloat?: NoteFloat; timeoutMs?: number },
): Promise<PostpaidAnswer> {
  const { suffix, fields, noteFloat, timeoutMs = iakTraits.timeoutMs } = given;
  const call = { api: 'postpaid' as const, path: 'api/v1/bill/check', suffix, timeoutMs, sendBefore };
  const sent = await callHttp(buildIakCall(connection, call, { ...fields }));
  const http =
    sent.kind === 'answer' ? { ...sent, text: quoteNumber(quoteNumber(sent.text, 'tr_id'), 'noref') } : sent;
  const read = readJson(http, postpaidSchema, statusRules);
  if (read.kind !== 'read') {
    return { answer: read, inquiryId: null, bill: null };
  }
  const { data } = read.body;
  const { response_code: code, ref_id: refId, status, message, noref, selling_price: cost, balance } = data;
  const isPayment = typeof balance === 'number' || Boolean(data.datetime);
  if (typeof balance === 'number') {
    noteFloat?.(connection.sellerId, balance);
  }
  const meaning = getPostpaidMeaning(code);
  const bill = readJson(http, billSchema, statusRules);
  return {
    answer: {
      kind: 'read',
      body: {
        code,
        meaning,
        refId,
        status,
        message,
        serialNumber: noref,
        cost,
        isPayment,
        productCode: data.code,
        customerNumber: data.hp,
      },
    },
    inquiryId: data.tr_id ?? null,
    bill: bill.kind === 'read' ? bill.body.data : null,
  };
}

/**
 * The result of an inquiry. `inquiryId` is IAK's id, which its payment names. Null if there is no bill.
 * `meaning` is that of the response code, or null if no response was about this inquiry.
 */
interface FoundBill {
  outcome: BillOutcome;
  inquiryId: string | null;
  meaning: IakMeaning | null;
}

export async function findBill(
  connection: ProviderConnection,
  query: BillQuery & SentCall,
  noteFloat: NoteFloat,
  timeoutMs = iakTraits.timeoutMs,
): Promise<FoundBill> {
  const refId = toIakRef(query.providerRef);
  const fields = { commands: 'inq-pasca', code: query.productCode, hp: query.customerNumber, ref_id: refId };
  const { answer, bill } = await askPostpaid(connection, query, {
    suffix: refId,
    fields,
    noteFloat,
    timeoutMs,
  });
  if (answer.kind !== 'read') {
    const { code, message } = answer;
    return { outcome: { outcome: 'unavailable', code, message }, inquiryId: null, meaning: null };
  }
  const { meaning, refId: found } = answer.body;
  const code = answer.body.code.slice(0, 20);
  const message = cleanMessage(answer.body.message, `Response code ${code}`);
  const isOurs = found === refId || (!found && meaning.class !== 'success');
  if (!isOurs || !isAboutOrder(answer.body, query)) {
    const wrong = `Contradicting response: ${message}`;
    return { outcome: { outcome: 'unavailable', code, message: wrong }, inquiryId: null, meaning: null };
  }
  if (meaning.class !== 'success') {
    return { outcome: toRefusedBill(answer.body), inquiryId: null, meaning };
  }
  const unreadable = 'The amounts or the id of the bill could not be read';
  const outcome: BillOutcome = bill
    ? toIakBill(bill)
    : { outcome: 'unavailable', code: unsellableBillCode, message: unreadable };
  return { outcome, inquiryId: bill?.tr_id ?? null, meaning };
}

/** Our reference was used before: the code of a repeated inquiry. */
const usedReferenceCode = '11';

/**
 * IAK pays an inquiry by its id. So this inquires under the reference of the order, checks the total,
 * and pays that inquiry. Until it is paid, a status check says that no payment was received.
 *
 * A reference serves one inquiry. If IAK has seen it before, another process may have paid, so the
 * outcome is unknown and nothing is paid.
 */
export async function payBill(
  connection: ProviderConnection,
  order: ProviderOrder & { billTotal: number },
  noteFloat: NoteFloat,
): Promise<ProviderOutcome> {
  // The lease of the order allows for one timeout, so each of the two calls gets half of it.
  const timeoutMs = iakTraits.timeoutMs / 2;
  const { outcome: inquired, inquiryId, meaning } = await findBill(connection, order, noteFloat, timeoutMs);
  if (inquired.outcome === 'refused') {
    return { ...inquired, outcome: 'refused', failover: 'no' };
  }
  if (inquired.outcome === 'unavailable') {
    return toUnpaid(inquired, meaning);
  }
  const { totalAmount } = inquired.bill;
  if (totalAmount !== order.billTotal || inquiryId === null) {
    const message = `Bill amount has changed to ${totalAmount}`;
    return { outcome: 'refused', code: 'BILL_CHANGED', message, failover: 'no', clientCode: '01' };
  }
  // The inquiry may have used its half of the time, or this process may have been paused since then.
  const sendBefore = order.sendBefore && new Date(order.sendBefore.getTime() + timeoutMs);
  const { answer, inquiryId: paidId } = await askPostpaid(
    connection,
    { providerRef: order.providerRef, sendBefore },
    { suffix: inquiryId, fields: { commands: 'pay-pasca', tr_id: inquiryId }, noteFloat, timeoutMs },
  );
  const paid = judgeIakAnswer(answer, order, 'pay');
  return paid.outcome === 'success' && paidId !== inquiryId
    ? { outcome: 'unknown', code: paid.code, message: 'Contradicting response: another inquiry was paid' }
    : paid;
}

/**
 * Returns the outcome of a payment whose inquiry found no bill. Nothing was paid by this call. A code
 * that says that IAK has the inquiry already is unknown, because another process may have paid it.
 */
function toUnpaid(
  { code, message }: { code: string; message: string },
  meaning: IakMeaning | null,
): ProviderOutcome {
  if (code === unsellableBillCode) {
    return { outcome: 'refused', code, message, failover: 'no', clientCode: '01' };
  }
  if (code === usedReferenceCode || meaning?.class === 'not-found') {
    return { outcome: 'unknown', code, message };
  }
  if (meaning?.class === 'refused' && meaning.failover !== 'confirm') {
    const { failover, clientCode, fault } = meaning;
    return { outcome: 'refused', code, message, failover, clientCode, ...(fault && { fault }) };
  }
  return { outcome: 'not-sent', code, message };
}
