/** What the simulator does with a call, apart from HTTP: answers, or fails in one of the ways that providers do. */

/** Always HTTP 200, as reseller engines expect. */
export interface AnswerReply {
  kind: 'answer';
  body: AnswerBody;
}

export type Reply =
  | AnswerReply
  | { kind: 'unavailable' }
  /** The connection is closed without an answer. */
  | { kind: 'cut' }
  /** The connection stays open without an answer until the caller gives up. */
  | { kind: 'silence' };

export type ResponseCode = '00' | '01' | '02' | '03' | '04' | '05' | '06' | '07';

/**
 * The answer of docs/reference/api/reseller.md. `transaction_status` is there exactly when the answer is about an
 * order that was taken, so that no other answer (a wrong sign, a rate limit, a conflict) can be read as its failure.
 */
export interface AnswerBody {
  status: ResponseCode;
  message: string;
  ref_id?: string;
  sn?: string | null;
  /** `reversed`, beyond the protocol: a success that was taken back. */
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
