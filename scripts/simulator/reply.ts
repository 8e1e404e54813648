/**
 * Replies of the simulator, independent of HTTP. A reply is either a response of the protocol or a
 * failure that real providers have.
 */

/** Response of the protocol. Sent with HTTP 200, as reseller engines expect. */
export interface AnswerReply {
  kind: 'answer';
  body: AnswerBody;
}

export type Reply =
  | AnswerReply
  | { kind: 'unavailable' }
  /** Closes the connection without a response. */
  | { kind: 'cut' }
  /** Keeps the connection open without a response until the caller gives up. */
  | { kind: 'silence' };

export type ResponseCode = '00' | '01' | '02' | '03' | '04' | '05' | '06' | '07';

/**
 * The response of docs/reference/api/reseller.md. `transaction_status` is present only for an
 * accepted order, so that no other response (wrong sign, rate limit, conflict) can be taken for a
 * failed order.
 */
export interface AnswerBody {
  status: ResponseCode;
  message: string;
  ref_id?: string;
  sn?: string | null;
  /** `reversed` is an extension of the protocol: a success that was reversed later. */
  transaction_status?: 'pending' | 'success' | 'failed' | 'reversed';
  [field: string]: unknown;
}

export const messages: Record<ResponseCode, string> = {
  '00': 'Success',
  '01': 'Invalid request',
  '02': 'Product not found, or resource not found',
  '03': 'Seller server under maintenance',
  '04': 'Invalid customer number',
  '05': 'Transaction being processed',
  '06': 'Rate limit exceeded',
  '07': 'Invalid API key, or unauthorized',
};

export function answer(
  status: ResponseCode,
  rest: Omit<AnswerBody, 'status' | 'message'> & { message?: string },
): AnswerReply {
  return { kind: 'answer', body: { status, message: messages[status], ...rest } };
}
