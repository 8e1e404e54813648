import type { components } from './schema.js';

export type FailureReason = components['schemas']['FailureReason'];
type Failure = components['schemas']['Failure'];

/** The service refused: this call made nothing. Branch on `reason`, never on `message`. */
export class TopupError extends Error {
  readonly code: string;
  /** May be one that this release does not know: then go by `httpStatus`. */
  readonly reason: FailureReason;
  readonly errors: components['schemas']['FieldError'][];
  readonly requestId: string;
  /** Of `insufficient_balance`: rupiah. */
  readonly dataHint: { balance: number; price: number } | null;

  constructor(
    readonly httpStatus: number,
    failure: Failure,
  ) {
    super(failure.message);
    this.name = 'TopupError';
    this.code = failure.code;
    this.reason = failure.reason;
    this.errors = Array.isArray(failure.errors) ? failure.errors : [];
    this.requestId = failure.request_id;
    this.dataHint = failure.data_hint ?? null;
  }
}

/**
 * No answer came, however often it was asked for: what was sent may have been done, unless it only reads. Send the same call,
 * with the same ref_id, later; never a new ref_id for the same order.
 */
export class OutcomeUnknownError extends Error {
  constructor(
    readonly operation: string,
    /** Of the call, where it has one. */
    readonly refId: string | null,
    cause: unknown,
    { isRead = false }: { isRead?: boolean } = {},
  ) {
    super(`The outcome of ${operation} is not known (${toldBy(cause)}). ${whatToDo(refId, isRead)}.`, {
      cause,
    });
    this.name = 'OutcomeUnknownError';
  }
}

/** Node's error of several addresses that all refuse has a code alone. */
function toldBy(cause: unknown): string {
  const { message, code } = cause as { message?: string; code?: string };
  return message || code || 'no answer';
}

function whatToDo(refId: string | null, isRead: boolean): string {
  if (isRead) {
    return 'It only reads: nothing was changed, and it may simply be repeated';
  }
  return refId === null
    ? 'Look at what it should have done before you repeat it'
    : `Ask again with ref_id ${refId}`;
}
