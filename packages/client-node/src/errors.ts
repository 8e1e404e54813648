import type { components } from './schema.js';

export type FailureReason = components['schemas']['FailureReason'];
type Failure = components['schemas']['Failure'];

/**
 * The service refused the call. The call had no effect. Branch on `reason`, never on `message`.
 */
export class TopupError extends Error {
  readonly code: string;
  /**
   * A later release of the service may send a reason that is not in this type. In that case use
   * `httpStatus`.
   */
  readonly reason: FailureReason;
  readonly errors: components['schemas']['FieldError'][];
  readonly requestId: string;
  /** The balance and the price in rupiah. Only set if the reason is `insufficient_balance`. */
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
 * No attempt returned a conclusive response. The call may have taken effect, unless it only reads.
 * Repeat the same call later with the same ref_id. Never use a new ref_id for the same order.
 */
export class OutcomeUnknownError extends Error {
  constructor(
    readonly operation: string,
    /** The ref_id of the call, or null if it has none. */
    readonly refId: string | null,
    cause: unknown,
    { isRead = false }: { isRead?: boolean } = {},
  ) {
    super(
      `The outcome of ${operation} is unknown (${describeCause(cause)}). ${describeNextStep(refId, isRead)}.`,
      {
        cause,
      },
    );
    this.name = 'OutcomeUnknownError';
  }
}

/**
 * If several addresses refuse the connection, Node's error has an empty message and only a code.
 */
function describeCause(cause: unknown): string {
  const { message, code } = cause as { message?: string; code?: string };
  return message || code || 'no response';
}

function describeNextStep(refId: string | null, isRead: boolean): string {
  if (isRead) {
    return 'This call only reads and can be repeated';
  }
  return refId === null
    ? 'Check whether it took effect before you repeat it'
    : `Repeat the call with ref_id ${refId}`;
}
