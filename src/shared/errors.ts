/**
 * Every failure that a client can cause or must handle, with its code (docs/reference/errors.md#codes). What HTTP makes of it
 * is one table in src/api/http-status.ts.
 */
import type { FailureReason } from './failure-reason.js';
import type { FieldReason } from './field-reason.js';
import { joinMessages, say, type Message } from './say.js';

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
