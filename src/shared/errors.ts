import { callerFields } from './caller-fields.js';
import { joinMessages, say, type Message } from './say.js';

/**
 * Why a call failed, as a stable word for programs. The meanings are in
 * src/api/contract/failure-reasons.ts.
 */
export const failureReasons = [
  'invalid_request',
  'malformed_body',
  'wrong_product_kind',
  'credentials_missing',
  'invalid_key',
  'invalid_token',
  'invalid_sign',
  'invalid_signature',
  'insufficient_balance',
  'address_not_allowed',
  'wrong_role',
  'account_suspended',
  'current_key_required',
  'sandbox_only',
  'forbidden',
  'not_found',
  'product_not_found',
  'meter_check_not_offered',
  'method_not_allowed',
  'conflict',
  'ref_id_conflict',
  'price_above_max',
  'product_code_taken',
  'product_limit_reached',
  'bill_already_paid',
  'bill_being_paid',
  'delivery_superseded',
  'webhook_url_missing',
  'webhook_url_taken',
  'webhook_endpoint_limit_reached',
  'report_failed',
  'receipt_not_available',
  'end_not_possible',
  'body_too_large',
  'unsupported_media_type',
  'invalid_customer_number',
  'rate_limited',
  'internal_error',
  'product_unavailable',
  'product_cut_off',
  'product_busy',
  'biller_unavailable',
  'service_unavailable',
  'transaction_failed',
] as const;

export type FailureReason = (typeof failureReasons)[number];

/**
 * Why a field is wrong, as a stable word. A test compares docs/reference/field-reasons.md with this
 * table.
 */
export const fieldReasons = {
  missing: 'It is required.',
  wrong_type: 'The JSON type is wrong, for example a number sent as a string.',
  wrong_form: 'The format is wrong, or a character is not allowed.',
  unknown_value: 'The value is not one of the allowed values.',
  too_short: 'The text has too few characters, or is empty.',
  too_long: 'The text has too many characters.',
  too_few: 'The list has too few entries.',
  too_many: 'The list has too many entries.',
  too_small: 'The number is below the minimum.',
  too_large: 'The number is above the maximum.',
  given_twice: 'The parameter or the entry occurs more than once.',
  out_of_range: 'The end is before the start, or the period is too long.',
  not_accepted: 'The value is well-formed but not accepted here; `message` says why.',
} as const;

export type FieldReason = keyof typeof fieldReasons;

export interface FieldError {
  field: string;
  /** `not_accepted` if absent. */
  reason?: FieldReason;
  message: Message;
}

/** docs/reference/errors.md#codes */
export type ResponseCode = '00' | '01' | '02' | '03' | '04' | '05' | '06' | '07';

export interface AppErrorOptions {
  cause?: unknown;
  errors?: FieldError[];
  /** Reason for programs. By default the reason of the error class. */
  reason?: FailureReason;
  /** Seconds after which a retry is useful. Sent as Retry-After. */
  retryAfterS?: number;
  /** Advice for the next step. Shown only on the command line. */
  atCommandLine?: string;
}

/**
 * Base class of all expected failures, with their codes (docs/reference/errors.md#codes).
 * src/api/http/http-status.ts maps them to HTTP.
 * `said` is for the client: what to do, in every language. `message` is its English text, for logs
 * and the command line.
 */
export class AppError extends Error {
  readonly errors: FieldError[] | undefined;
  readonly retryAfterS: number | undefined;
  readonly atCommandLine: string | undefined;
  readonly reason: FailureReason;

  constructor(
    readonly code: ResponseCode,
    readonly clientMessage: Message,
    { reason, ...options }: AppErrorOptions & { reason: FailureReason },
  ) {
    super(clientMessage.en, { cause: options.cause });
    this.name = new.target.name;
    this.errors = options.errors;
    this.retryAfterS = options.retryAfterS;
    this.atCommandLine = options.atCommandLine;
    this.reason = reason;
  }
}

export const fieldErrorsMax = 20;

export class ValidationError extends AppError {
  /** Keeps only the first `fieldErrorsMax` errors, so that the response stays small. */
  constructor(all: FieldError[], options: AppErrorOptions = {}) {
    const errors = all.slice(0, fieldErrorsMax);
    const more = all.length > errors.length ? [say('moreMistakes')] : [];
    super('01', joinMessages([...errors.map((error) => error.message), ...more], '; '), {
      reason: 'invalid_request',
      ...options,
      errors,
    });
  }
}

export class InsufficientBalanceError extends AppError {
  /** @param hint The balance and the required amount, in rupiah. */
  constructor(
    readonly hint: { balance: number; price: number },
    message: 'insufficientBalance' | 'insufficientForSettlement' = 'insufficientBalance',
  ) {
    super('01', say(message, hint), { reason: 'insufficient_balance' });
  }
}

export class ConflictError extends AppError {
  constructor(message: Message, options: AppErrorOptions = {}) {
    super('01', message, { reason: 'conflict', ...options });
  }
}

export class NotFoundError extends AppError {
  constructor(message: Message, options: Pick<AppErrorOptions, 'reason' | 'atCommandLine'> = {}) {
    super('02', message, { reason: 'not_found', ...options });
  }
}

/** The product, or every seller that could serve it, is under maintenance (code 03). */
export class MaintenanceError extends AppError {
  constructor(message: Message, retryAfterS = 30, reason: FailureReason = 'product_unavailable') {
    super('03', message, { reason, retryAfterS });
  }
}

export class InvalidCustomerNumberError extends AppError {
  /** @param field The caller's name of the customer number. */
  constructor(message: Message, field: string = callerFields.buyer.customerNumber) {
    super('04', message, {
      reason: 'invalid_customer_number',
      errors: [{ field, message }],
    });
  }
}

export class RateLimitError extends AppError {
  constructor(message: Message, retryAfterS: number) {
    super('06', message, { reason: 'rate_limited', retryAfterS });
  }
}

export class UnauthorizedError extends AppError {
  constructor(message: Message, reason: FailureReason = 'invalid_key') {
    super('07', message, { reason });
  }
}

export class ForbiddenError extends AppError {
  constructor(message: Message, reason: FailureReason = 'forbidden') {
    super('07', message, { reason });
  }
}

/**
 * MongoDB or Redis does not respond. The work is done either completely or not at all, so the same
 * request can be sent again.
 */
export class DependencyError extends AppError {
  constructor(cause: unknown, message = say('recovering')) {
    super('03', message, {
      reason: 'service_unavailable',
      cause,
      retryAfterS: 3,
    });
  }
}

/** An unexpected error. The log has its details; the client does not see them. */
export class UnexpectedError extends AppError {
  constructor(cause: unknown) {
    super('01', say('unexpected'), { reason: 'internal_error', cause });
  }
}
