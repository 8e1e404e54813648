import Joi from 'joi';
import { env } from '../../config/env.js';
import type { ProviderOrder, ProviderTraits } from './adapter.js';
import type { StatusRules } from './json-response.js';

const isSandboxMode = env.APP_MODE === 'sandbox';
const dayMs = 86_400_000;

export const iakTraits: ProviderTraits = {
  timeoutMs: isSandboxMode ? 3_000 : 40_000,
  // IAK documents no longest time. It states 1 to 30 s as usual.
  longestLatencyMs: 600_000,
  inquiryMinIntervalMs: isSandboxMode ? 1_000 : 5_000,
  // IAK does not document for how long it knows a reference.
  inquiryMaxAgeMs: 2 * dayMs,
  resendIsInquiry: false,
};

/** IAK documents 400 for a request that it refuses, with a body. It documents no 429 and no 503. */
export const statusRules: StatusRules = { statusMax: 499, notTaken: [] };

export const refSchema = Joi.string().allow('', null);

/** Returns the schema of a response whose fields are under `data`. */
export function underData<T>(data: Joi.ObjectSchema<T>): Joi.ObjectSchema<{ data: T }> {
  return Joi.object<{ data: T }>({ data: data.required() });
}

/** Called with our balance whenever a response contains it. */
export type NoteFloat = (sellerId: string, amount: number) => void;
/** The fields of an order that every call about it needs. */
export type SentCall = Pick<ProviderOrder, 'providerRef'> & { sendBefore?: Date | null | undefined };
