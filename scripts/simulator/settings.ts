/** How the simulator behaves, as POST /control sets it: for every provider, and for one provider over that. */
import Joi from 'joi';
import { HttpMistake } from '../support/http.js';

export interface Behaviour {
  /** Milliseconds between the execution and the answer. */
  latency_ms: number;
  /** Share of calls that break: 503 or a cut connection before anything happened, or a cut connection after it. */
  fault_rate: number;
  /** Every call gets a 503 or a cut connection, in turn, and nothing is executed. */
  down: boolean;
  /** Share of new orders that are refused; orders whose number has an ending of its own keep that. */
  refuse_rate: number;
  /** Share of new orders that are executed while their answer never arrives; endings keep theirs. */
  timeout_after_execute_rate: number;
  /** Answers every call with this response code and executes nothing. Null: off. */
  answer_with: '01' | '02' | '03' | '04' | '06' | '07' | null;
  /** Milliseconds that a pending order takes to become final. */
  pending_ms: number;
  /** Rupiah that GET /balance shows. */
  balance: number;
  /** Where final results are posted (docs/reference/api/callbacks.md#inbound-callbacks). Null: no callbacks. */
  callback_url: string | null;
  /** Signs callbacks; `whsec_…` or plain text. Null: the secret that requests are signed with. */
  callback_secret: string | null;
}

export interface Settings extends Behaviour {
  /** By username at the simulator. */
  providers: Record<string, Partial<Behaviour>>;
}

/** What POST /control takes: only what is named changes; `null` for a provider takes its own behaviour away. */
export type SettingsChange = Partial<Behaviour> & { providers?: Record<string, Partial<Behaviour> | null> };

const defaults: Behaviour = {
  latency_ms: 0,
  fault_rate: 0,
  down: false,
  refuse_rate: 0,
  timeout_after_execute_rate: 0,
  answer_with: null,
  pending_ms: 1_500,
  balance: 1_000_000_000,
  callback_url: null,
  callback_secret: null,
};

const rate = Joi.number().min(0).max(1);
const milliseconds = Joi.number().integer().min(0).max(600_000);
const behaviour = {
  latency_ms: milliseconds,
  fault_rate: rate,
  down: Joi.boolean(),
  refuse_rate: rate,
  timeout_after_execute_rate: rate,
  answer_with: Joi.string().valid('01', '02', '03', '04', '06', '07').allow(null),
  pending_ms: milliseconds,
  balance: Joi.number().integer().min(0),
  callback_url: Joi.string()
    .uri({ scheme: ['http', 'https'] })
    .allow(null),
  callback_secret: Joi.string().allow(null),
};
const changeSchema = Joi.object<SettingsChange>({
  ...behaviour,
  providers: Joi.object().pattern(/^[A-Za-z0-9._-]{1,64}$/, Joi.object(behaviour).allow(null)),
}).options({ convert: false, abortEarly: false });

export interface SettingsHolder {
  behaviourOf(provider: string): Behaviour;
  /** @throws HttpMistake 400 that lists every mistake; then nothing was changed. */
  change(input: unknown): void;
  reset(): void;
  /** What GET /control shows: secrets are hidden. */
  show(): Settings;
}

export function createSettings(): SettingsHolder {
  let common: Behaviour = { ...defaults };
  const own = new Map<string, Partial<Behaviour>>();
  return {
    behaviourOf: (provider) => ({ ...common, ...own.get(provider) }),
    change(input) {
      const result = changeSchema.validate(input);
      if (result.error) {
        throw new HttpMistake(400, result.error.details.map((detail) => detail.message).join('; '));
      }
      const { providers = {}, ...rest } = result.value;
      common = { ...common, ...rest };
      for (const [provider, change] of Object.entries(providers)) {
        if (change === null) {
          own.delete(provider);
        } else {
          own.set(provider, { ...own.get(provider), ...change });
        }
      }
    },
    reset() {
      common = { ...defaults };
      own.clear();
    },
    show: () => ({
      ...withoutSecret(common),
      providers: Object.fromEntries(
        [...own].map(([provider, behaviour]) => [provider, withoutSecret(behaviour)]),
      ),
    }),
  };
}

function withoutSecret<T extends Partial<Behaviour>>(shown: T): T {
  return typeof shown.callback_secret === 'string' ? { ...shown, callback_secret: '(set)' } : shown;
}
