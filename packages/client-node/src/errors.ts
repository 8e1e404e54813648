import type { components } from './schema.js';

export type FailureReason = components['schemas']['FailureReason'];
type Failure = components['schemas']['Failure'];

/** The service refused the call, which had no effect. Branch on `reason`, never on `message`. */
export class TopupError extends Error {
  readonly code: string;
  /** May be a reason that this release does not know. In that case use `httpStatus`. */
  readonly reason: FailureReason;
  readonly errors: components['schemas']['FieldError'][];
  readonly requestId: string;
  /** For `insufficient_balance`, in rupiah. */
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
 * No answer arrived after all attempts. The call may have taken effect, unless it only reads. Send
 * the same call later with the same ref_id. Never use a new ref_id for the same order.
 */
export class OutcomeUnknownError extends Error {
  constructor(
    readonly operation: string,
    /** The ref_id of the call, if it has one. */
    readonly refId: string | null,
    cause: unknown,
    { isRead = false }: { isRead?: boolean } = {},
  ) {
    super(`The outcome of ${operation} is unknown (${describeCause(cause)}). ${whatToDo(refId, isRead)}.`, {
      cause,
    });
    this.name = 'OutcomeUnknownError';
  }
}

/** If several addresses refuse the connection, Node's error has only a code. */
function describeCause(cause: unknown): string {
  const { message, code } = cause as { message?: string; code?: string };
  return message || code || 'no answer';
}

function whatToDo(refId: string | null, isRead: boolean): string {
  if (isRead) {
    return 'This call only reads and can be repeated';
  }
  return refId === null
    ? 'Check whether it took effect before you repeat it'
    : `Repeat the call with ref_id ${refId}`;
}
