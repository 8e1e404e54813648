/**
 * Structured logs. Each request and each attempt is one JSON line with ids. Lines never contain
 * keys, signatures or bodies.
 */
import winston from 'winston';
import { redactUrlSecrets } from './mask.js';
import { getCurrentTrace } from './tracing.js';
import { env } from '../../config/env.js';

const secretKeys =
  /^(authorization|cookie|set-cookie|sign|api_?key|key|secret|webhook_?secret|password|token|access_?token|x-signature|webhook-signature)$/i;
const secretPatterns: [RegExp, string][] = [
  [/([bs]k_(?:live|test)_)[0-9A-Za-z]+/g, '$1***'],
  [/(?<![A-Za-z])at_[\w-]{20,}/g, 'at_***'],
  [/(?<![A-Za-z])op_[\w-]{20,}/g, 'op_***'],
  [/\bwhsec_[0-9A-Za-z+/=]+/g, 'whsec_***'],
  [/([?&](?:sign|token|api_key)=)[^&\s"]+/gi, '$1***'],
  [/\b(Bearer\s+)[^\s"]+/gi, '$1***'],
  [/(mongodb(?:\+srv)?|rediss?):\/\/[^@/\s"]*@/g, '$1://***@'],
];

/** Control characters that JSON does not escape, and marks that change the direction of a text. */
const invisibleCharacters = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Removes every credential from a value to be logged. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') {
    const plain = redactUrlSecrets(value).replace(invisibleCharacters, '');
    return secretPatterns.reduce((text, [pattern, mask]) => text.replace(pattern, mask), plain);
  }
  if (value === null || typeof value !== 'object' || value instanceof Date) {
    return value;
  }
  if (depth > 6) {
    return '[deep]';
  }
  if (value instanceof Error) {
    return redactError(value, depth);
  }
  if (Array.isArray(value)) {
    return value.slice(0, 100).map((item) => redact(item, depth + 1));
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, secretKeys.test(key) ? '***' : redact(item, depth + 1)]),
  );
}

function redactError(error: Error, depth: number) {
  return {
    name: error.name,
    message: redact(error.message),
    ...('code' in error && { code: error.code }),
    stack: redact(error.stack),
    ...(error.cause !== undefined && { cause: redact(error.cause, depth + 1) }),
  };
}

const redactFormat = winston.format((info) => {
  const trace = getCurrentTrace();
  if (trace) {
    info['traceId'] ??= trace.traceId;
    info['requestId'] ??= trace.requestId ?? undefined;
  }
  for (const [key, value] of Object.entries(info)) {
    info[key] = secretKeys.test(key) ? '***' : redact(value);
  }
  return info;
});

export const logger = winston.createLogger({
  level: env.LOG_LEVEL,
  format: winston.format.combine(winston.format.timestamp(), redactFormat(), winston.format.json()),
  transports: [new winston.transports.Console({ stderrLevels: ['error'] })],
});

const repeatIntervalMs = 60_000;

/** For each message, the time of the last line and the number of lines omitted since then. */
const lastLogged = new Map<string, { atMs: number; more: number }>();

/**
 * Logs a frequent error once a minute for each `what` and `code`. The next line says how many lines
 * were omitted.
 * @param what Work that failed, from a small set of words.
 */
export function logOncePerMinute(what: string, code: string, details: Record<string, unknown> = {}): void {
  const key = `${what} ${code}`;
  const last = lastLogged.get(key);
  const atMs = performance.now();
  if (last && atMs - last.atMs < repeatIntervalMs) {
    last.more += 1;
    return;
  }
  lastLogged.set(key, { atMs, more: 0 });
  logger.error(what, { code, ...details, ...(last && last.more > 0 && { moreOfThem: last.more }) });
}
