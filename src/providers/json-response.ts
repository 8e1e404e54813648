import type Joi from 'joi';
import { toPrintable } from '../shared/printable.js';
import type { HttpResponse } from './http.js';

export type JsonResponse<T> =
  | { kind: 'read'; body: T }
  | { kind: 'not-sent'; code: string; message: string }
  | { kind: 'unknown'; code: string; message: string };

/**
 * Code of an outcome during a requested pause, when no call is made. It does not count for the
 * circuit.
 */
export const busyCode = 'BUSY';
const messageLengthMax = 200;

/** How a protocol uses HTTP statuses. */
export interface StatusRules {
  /**
   * 299, or 499 for a protocol that reports refusals with an HTTP status as well as in the body.
   */
  statusMax: 299 | 499;
  /**
   * Statuses that the provider sends before it processes the request
   * (docs/explanation/outcomes.md#busy).
   */
  notTaken: readonly (429 | 503)[];
}

const strictRules: StatusRules = { statusMax: 299, notTaken: [] };

/** Reads a JSON body that matches the schema. Any other response proves nothing about the order. */
export function readJson<T>(
  answer: HttpResponse,
  schema: Joi.ObjectSchema<T>,
  { statusMax, notTaken }: StatusRules = strictRules,
): JsonResponse<T> {
  if (answer.kind === 'not-sent') {
    return { kind: 'not-sent', code: answer.reason, message: 'The provider could not be reached' };
  }
  if (answer.kind === 'unknown') {
    return { kind: 'unknown', code: answer.reason, message: 'The provider did not respond' };
  }
  const { status } = answer;
  if (status === 429 || status === 503) {
    const body = status <= statusMax ? matchSchema(schema, parseJson(answer.text)) : null;
    return body === null ? readBusy(status, answer.asksForPause, notTaken) : { kind: 'read', body };
  }
  if (status < 200 || status > statusMax || (status >= 300 && status < 400)) {
    return { kind: 'unknown', code: `HTTP_${status}`, message: 'The provider returned an error' };
  }
  const body = matchSchema(schema, parseJson(answer.text));
  return body === null
    ? { kind: 'unknown', code: 'UNREADABLE', message: "The provider's response could not be read" }
    : { kind: 'read', body };
}

/**
 * Reads a "busy" response. Without Retry-After, a 503 may come from a proxy that lost the
 * provider's response.
 */
function readBusy(
  status: 429 | 503,
  asksForPause: boolean,
  notTaken: StatusRules['notTaken'],
): { kind: 'not-sent' | 'unknown'; code: string; message: string } {
  const isCertain = notTaken.includes(status) && (status === 429 || asksForPause);
  return {
    kind: isCertain ? 'not-sent' : 'unknown',
    code: isCertain && asksForPause ? busyCode : `HTTP_${status}`,
    message: 'The provider is busy',
  };
}

/** Returns the value if it matches the schema, or null. Unknown fields are ignored. */
export function matchSchema<T>(schema: Joi.ObjectSchema<T>, value: unknown): T | null {
  const result = schema.required().validate(value, { convert: false, allowUnknown: true });
  return result.error ? null : result.value;
}

/** Parses JSON, with or without a byte order mark. Returns undefined if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    return undefined;
  }
}

/** Returns a provider's message as one short printable line. */
export function cleanMessage(message: string | null | undefined, otherwise: string): string {
  const line = toPrintable(message ?? '');
  return line === '' ? otherwise : line.slice(0, messageLengthMax);
}
