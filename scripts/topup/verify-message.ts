import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import Joi from 'joi';
import { verifySignatures, type SignatureCheck } from '../inbox/verify-signatures.js';
import { UsageError } from './usage-error.js';

export interface CapturedMessage {
  headers: Record<string, string>;
  raw: string;
}

const schema = Joi.object<CapturedMessage>({
  headers: Joi.object().pattern(Joi.string(), Joi.string().allow('')).required(),
  raw: Joi.string().allow('').required(),
})
  .required()
  .options({ stripUnknown: true });

/**
 * @param file A path, or `-` for standard input.
 * @throws UsageError unless the file contains a captured message.
 */
export async function readMessage(file: string): Promise<CapturedMessage> {
  const text =
    file === '-' ? await readAll(process.stdin) : await readFile(file, 'utf8').catch(notReadable(file));
  const result = schema.validate(parse(text));
  if (result.error) {
    throw new UsageError('The file must be JSON: {"headers": {...}, "raw": "the exact body"}.');
  }
  const lower = Object.entries(result.value.headers).map(([name, header]) => [name.toLowerCase(), header]);
  return { raw: result.value.raw, headers: Object.fromEntries(lower) as Record<string, string> };
}

/** Verifies both signatures and adds a hint if one is wrong. */
export function verifyMessage(
  { headers, raw }: CapturedMessage,
  { secret, ignoreAge }: { secret: string; ignoreAge: boolean },
): { x_signature: SignatureCheck; webhook_signature: SignatureCheck; genuine: boolean; hint: string | null } {
  const check = (body: string, toleranceMs: number | null) =>
    verifySignatures({ headers, raw: Buffer.from(body), secrets: [secret], nowMs: Date.now(), toleranceMs });
  const result = check(raw, ignoreAge ? null : 300_000);
  const genuine = result.x_signature !== 'wrong' && result.standard_webhooks === 'right';
  return {
    x_signature: result.x_signature,
    webhook_signature: result.standard_webhooks,
    genuine,
    hint: genuine ? null : findHint(raw, check),
  };
}

function findHint(
  raw: string,
  check: (body: string, toleranceMs: number | null) => ReturnType<typeof verifySignatures>,
): string {
  if (check(raw, null).standard_webhooks === 'right') {
    return 'the signature is correct but older than five minutes (--ignore-age accepts it)';
  }
  const variants = { trimmed: raw.trim(), compact: compactJson(raw) };
  const fits = Object.entries(variants).find(
    ([, body]) => body !== raw && check(body, null).x_signature === 'right',
  );
  return fits
    ? `the body was changed: the signature matches when ${fits[0]}. Verify the raw bytes before any parser`
    : 'the secret is wrong, or the body differs from the one that was sent';
}

function compactJson(raw: string): string {
  const parsed = parse(raw);
  return parsed === undefined ? raw : JSON.stringify(parsed);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function notReadable(file: string) {
  return (): never => {
    throw new UsageError(`${file} cannot be read.`);
  };
}
