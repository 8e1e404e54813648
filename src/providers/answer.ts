/** Reading what a provider answered, without trusting any of it. */
import type Joi from 'joi';
import type { HttpAnswer } from './http.js';

export type JsonAnswer<T> =
  | { kind: 'read'; body: T }
  | { kind: 'not-sent'; code: string; message: string }
  | { kind: 'unknown'; code: string; message: string };

const messageLengthMax = 200;

/**
 * The body of a JSON answer that fits the schema; everything else says nothing about what was done.
 * @param statusMax 299, or 499 for a protocol that tells refusals by HTTP status as well as in its body.
 */
export function readJson<T>(
  answer: HttpAnswer,
  schema: Joi.ObjectSchema<T>,
  statusMax: 299 | 499 = 299,
): JsonAnswer<T> {
  if (answer.kind === 'not-sent') {
    return { kind: 'not-sent', code: answer.reason, message: 'The provider could not be reached' };
  }
  if (answer.kind === 'unknown') {
    return { kind: 'unknown', code: answer.reason, message: 'The provider did not answer' };
  }
  const { status } = answer;
  if (status < 200 || status > statusMax || (status >= 300 && status < 400)) {
    return { kind: 'unknown', code: `HTTP_${status}`, message: 'The provider answered with an error' };
  }
  const body = validate(schema, parse(answer.text));
  return body === null
    ? { kind: 'unknown', code: 'UNREADABLE', message: 'The answer of the provider could not be read' }
    : { kind: 'read', body };
}

/** The value if it fits, or null. Strict about the fields that we read, indifferent to all others. */
export function validate<T>(schema: Joi.ObjectSchema<T>, value: unknown): T | null {
  const result = schema.required().validate(value, { convert: false, allowUnknown: true });
  return result.error ? null : result.value;
}

/** JSON, or undefined: a provider's broken answer is no error of ours. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A provider's words as they may be stored and shown: one short line. */
export function clean(message: string | null | undefined, otherwise: string): string {
  const line = (message ?? '').replace(/[\u0000-\u001f\u007f]+/g, ' ').trim();
  return line === '' ? otherwise : line.slice(0, messageLengthMax);
}
