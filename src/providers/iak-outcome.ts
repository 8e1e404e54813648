import type { BillOutcome, ProviderOrder, ProviderOutcome } from './adapter.js';
import type { IakMeaning } from './iak-response-codes.js';
import { cleanMessage, type JsonResponse } from './json-response.js';
import { toIakRef } from './iak-call.js';
import { isAboutOrder } from './is-about-order.js';
import { lookUp } from '../shared/collections.js';

/** A response of either API about an order, in common words. */
export interface IakAnswer {
  code: string;
  meaning: IakMeaning;
  message?: string | null | undefined;
  refId?: string | null | undefined;
  /** The status as text. Null or absent if the call has none, as in the response to a payment. */
  status?: string | null | undefined;
  serialNumber?: string | null | undefined;
  cost?: number | null | undefined;
  productCode?: string | null | undefined;
  customerNumber?: string | null | undefined;
  /** True if it has what only the response to a payment has, and that to an inquiry never. */
  isPayment?: boolean;
}

/** The order that an answer must be about. */
export type AskedOrder = Pick<ProviderOrder, 'providerRef' | 'productCode' | 'customerNumber'>;

/**
 * The call that was answered: the order or payment itself, or a status check of one sent earlier.
 * A response to `pay` has no status.
 */
export type AskedBy = 'buy' | 'pay' | 'check-prepaid' | 'check-postpaid';

type Status = 'success' | 'pending' | 'failed' | 'unpaid' | 'absent' | 'odd';

const prepaidStatuses: Readonly<Record<string, Status>> = { '0': 'pending', '1': 'success', '2': 'failed' };
const postpaidStatuses: Readonly<Record<string, Status>> = {
  '0': 'unpaid',
  '1': 'success',
  '2': 'failed',
  '3': 'pending',
};

/** Returns what an answer means for the order. Anything that is not certain is unknown. */
export function judgeIakAnswer(
  answer: JsonResponse<IakAnswer>,
  order: AskedOrder,
  by: AskedBy,
): ProviderOutcome {
  const isCheck = by.startsWith('check');
  if (answer.kind !== 'read') {
    const { kind, code, message } = answer;
    return { outcome: kind === 'not-sent' && !isCheck ? 'not-sent' : 'unknown', code, message };
  }
  const { meaning, serialNumber = null, cost = null } = answer.body;
  const code = answer.body.code.slice(0, 20);
  const message = cleanMessage(answer.body.message, `Response code ${code}`);
  if (!isConsistent(answer.body, order, by)) {
    return { outcome: 'unknown', code, message: `Contradicting response: ${message}` };
  }
  switch (meaning.class) {
    case 'success':
      return { outcome: 'success', code, message, serialNumber: serialNumber || null, cost };
    case 'pending':
      return { outcome: 'pending', code, message, serialNumber: serialNumber || null };
    case 'unknown':
      return { outcome: 'unknown', code, message };
    case 'not-found':
      return { outcome: isCheck ? 'not-found' : 'unknown', code, message };
    case 'refused': {
      const { failover, clientCode, fault, aboutCall, confirmed = 'yes' } = meaning;
      return isCheck && aboutCall
        ? { outcome: 'unknown', code, message }
        : {
            outcome: 'refused',
            code,
            message,
            failover: isCheck && failover === 'confirm' ? confirmed : failover,
            clientCode,
            ...(fault && { fault }),
          };
    }
  }
}

/**
 * True if code, status, reference, product and customer agree. A success must name our reference and
 * its status. In a status check a refusal must do so too, because it could be about the check itself.
 */
function isConsistent(answer: IakAnswer, order: AskedOrder, by: AskedBy): boolean {
  const { meaning, refId, status: text } = answer;
  const isOurs = refId === toIakRef(order.providerRef);
  if ((refId && !isOurs) || !isAboutOrder(answer, order)) {
    return false;
  }
  const status = readStatus(text, by);
  const isAbsent = status === 'absent';
  switch (meaning.class) {
    case 'success':
      return isOurs && (status === 'success' || (isAbsent && by === 'pay' && answer.isPayment === true));
    case 'pending':
      return status === 'pending' || isAbsent;
    case 'refused':
      return by.startsWith('check') && !meaning.aboutCall
        ? isOurs && status === 'failed'
        : status === 'failed' || isAbsent;
    case 'not-found':
      return status === 'failed' || status === 'unpaid' || isAbsent;
    case 'unknown':
      return true;
  }
}

function readStatus(text: string | null | undefined, by: AskedBy): Status {
  if (text === null || text === undefined || text === '') {
    return 'absent';
  }
  return lookUp(by === 'check-postpaid' || by === 'pay' ? postpaidStatuses : prepaidStatuses, text) ?? 'odd';
}

/** Returns why there is no bill, for an inquiry that was answered with another code than `00`. */
export function toRefusedBill({ code: text, message: given, meaning }: IakAnswer): BillOutcome {
  const code = text.slice(0, 20);
  const message = cleanMessage(given, `Response code ${code}`);
  const refuse = (reason: 'already-paid' | 'wrong-number' | 'no-bill' | 'not-sold'): BillOutcome => ({
    outcome: 'refused',
    code,
    message,
    reason,
    clientCode: reason === 'already-paid' ? '01' : reason === 'wrong-number' ? '04' : '02',
  });
  if (meaning.class !== 'refused') {
    return { outcome: 'unavailable', code, message };
  }
  if (meaning.confirmed === 'no') {
    return refuse('already-paid');
  }
  switch (meaning.clientCode) {
    case '04':
      return refuse('wrong-number');
    case '02':
      return refuse(meaning.failover === 'no' ? 'no-bill' : 'not-sold');
    default:
      return { outcome: 'unavailable', code, message };
  }
}
