import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { recordAudit } from '../../audit/record-audit.js';
import { readFloatWithLatency } from '../../providers/refresh-providers.js';
import { changeProvider, pauseProvider, resumeProvider } from '../../providers/manage-provider.js';
import { redactUrls } from '../webhooks/deliveries.js';
import { reason, reasonBody, requiredObject, type Reason } from '../api/console-operation.js';
import { defineProviderOperation } from './define-provider-operation.js';

const nothing = requiredObject({});

export const pauseProviderCall = defineProviderOperation({
  id: 'pauseProvider',
  method: 'post',
  verb: 'pause',
  action: 'provider.steer',
  summary: 'Send no new orders to a provider',
  body: reasonBody,
  data: nothing,
  async run(seller, { by }) {
    await pauseProvider(seller, by);
    return {};
  },
});

export const resumeProviderCall = defineProviderOperation({
  id: 'resumeProvider',
  method: 'post',
  verb: 'resume',
  action: 'provider.steer',
  summary: 'Send orders to a provider again, and close its circuit',
  body: reasonBody,
  data: nothing,
  async run(seller, { by }) {
    await resumeProvider(seller, by);
    return {};
  },
});

interface LimitsBody extends Reason {
  calls_per_second?: number | null;
  concurrency?: number | null;
  max_wait_s?: number | null;
  serial_placeholders?: string[];
}

const bound = (max: number) => Joi.number().integer().min(1).max(max).allow(null);

export const limitProvider = defineProviderOperation({
  id: 'limitProvider',
  method: 'post',
  verb: 'limits',
  action: 'provider.set',
  summary:
    'Set the limits of a provider for all processes together, and its serial placeholders; null removes a limit, omitted fields stay',
  body: Joi.object<LimitsBody>({
    calls_per_second: bound(10_000),
    concurrency: bound(1_000),
    max_wait_s: bound(limits.maxWaitMaxS),
    serial_placeholders: Joi.array()
      .items(Joi.string().trim().max(limits.serialPlaceholderLengthMax))
      .max(limits.serialPlaceholdersMax)
      .description('Texts that the provider writes where it has no serial number. Empty: none.'),
    reason,
  }),
  data: nothing,
  async run(seller, { body, by }) {
    await changeProvider(
      seller,
      {
        ...(body.calls_per_second !== undefined && { callsPerSecond: body.calls_per_second }),
        ...(body.concurrency !== undefined && { concurrency: body.concurrency }),
        ...(body.max_wait_s !== undefined && { maxWaitS: body.max_wait_s }),
        ...(body.serial_placeholders && { serialPlaceholders: body.serial_placeholders }),
      },
      by,
    );
    return {};
  },
});

export const testProvider = defineProviderOperation({
  id: 'testProvider',
  method: 'post',
  verb: 'test',
  action: 'provider.float',
  summary: 'Query our balance at a provider; this buys nothing',
  body: reasonBody,
  data: requiredObject({
    float: Joi.number().allow(null),
    duration_ms: Joi.number(),
    problem: Joi.string().allow(null),
  }),
  async run(seller, { by }) {
    const { amount, durationMs, problem: rawProblem } = await readFloatWithLatency(seller);
    const problem = redactUrls(rawProblem);
    await recordAudit(null, {
      ...by,
      action: 'provider.float',
      subject: { kind: 'provider', id: seller._id },
      after: { float: amount, problem },
    });
    return { float: amount, duration_ms: Math.round(durationMs), problem };
  },
});
