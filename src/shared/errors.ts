import { joinMessages, say, type Message } from './say.js';

/** Why a call failed, as a word that a program can branch on and that never changes; what each means: src/api/contract/failure-reasons.ts. */
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

/** What is wrong with a field, as a word that never changes; the table of docs/reference/field-reasons.md is held against this one. */
export const fieldReasons = {
  missing: 'It is required.',
  wrong_type: 'Another type of JSON: a number sent as text, or the reverse.',
  wrong_form: 'Its characters, or how it is written.',
  unknown_value: 'It is none of the words that are taken.',
  too_short: 'Text with too few characters; empty text is.',
  too_long: 'Text with too many characters.',
  too_few: 'A list with too few entries.',
  too_many: 'A list with too many entries.',
  too_small: 'A number below the least.',
  too_large: 'A number above the most.',
  given_twice: 'The parameter, or the entry, is there more than once.',
  out_of_range: 'Days that do not fit each other: the end before the start, or too far apart.',
  not_accepted: 'Well written, but not possible here; `message` says why.',
} as const;

export type FieldReason = keyof typeof fieldReasons;

/**
 * Every failure that a client can cause or must handle, with its code (docs/reference/errors.md#codes). What HTTP makes of it
 * is one table in src/api/http/http-status.ts.
 */

export interface FieldError {
  field: string;
  /** Left out: `not_accepted`. */
  reason?: FieldReason;
  message: Message;
}

/** docs/reference/errors.md#codes */
export type ResponseCode = '00' | '01' | '02' | '03' | '04' | '05' | '06' | '07';

export interface AppErrorOptions {
  cause?: unknown;
  errors?: FieldError[];
  /** Left out: that of the class. */
  reason?: FailureReason;
  /** Seconds after which a retry makes sense; sent as Retry-After. */
  retryAfterS?: number;
  /** What to do next, for who reads it on the command line: said there alone. */
  atCommandLine?: string;
}

/**
 * Base of all expected failures. `said` is for the client: plain words that say what to do, in every language. `message` is the
 * English of it, for logs and the command line.
 */
export class AppError extends Error {
  readonly errors: FieldError[] | undefined;
  readonly retryAfterS: number | undefined;
  readonly atCommandLine: string | undefined;
  readonly reason: FailureReason;

  constructor(
    readonly code: ResponseCode,
    readonly said: Message,
    { reason, ...options }: AppErrorOptions & { reason: FailureReason },
  ) {
    super(said.en, { cause: options.cause });
    this.name = new.target.name;
    this.errors = options.errors;
    this.retryAfterS = options.retryAfterS;
    this.atCommandLine = options.atCommandLine;
    this.reason = reason;
  }
}

export const fieldErrorsMax = 20;

export class ValidationError extends AppError {
  /** Of more mistakes than `fieldErrorsMax` the first are told: an answer stays small, whatever was sent. */
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
  /** @param hint Rupiah: what there is, and what it would have taken. */
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

/** The product, or every seller that could serve it, is under maintenance for now (code 03). */
export class MaintenanceError extends AppError {
  constructor(message: Message, retryAfterS = 30, reason: FailureReason = 'product_unavailable') {
    super('03', message, { reason, retryAfterS });
  }
}

export class InvalidCustomerNumberError extends AppError {
  constructor(message: Message) {
    super('04', message, {
      reason: 'invalid_customer_number',
      errors: [{ field: 'customer_number', message }],
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

/** MongoDB or Redis does not answer. Nothing is half done, but all of it may be: the same request can be sent again. */
export class DependencyError extends AppError {
  constructor(cause: unknown, message = say('recovering')) {
    super('03', message, {
      reason: 'service_unavailable',
      cause,
      retryAfterS: 3,
    });
  }
}

/** What nobody expected. The client sees none of its insides; the log does. */
export class UnexpectedError extends AppError {
  constructor(cause: unknown) {
    super('01', say('unexpected'), { reason: 'internal_error', cause });
  }
}
