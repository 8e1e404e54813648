/**
 * Behaviour of the simulator, set by POST /control for all providers, with overrides per provider.
 */
import Joi from 'joi';
import { HttpMistake } from '../support/http.js';

export interface Behaviour {
  /** Milliseconds between execution and answer. */
  latency_ms: number;
  /**
   * Share of calls that break: a 503 or cut connection before execution, or a cut connection after
   * it.
   */
  fault_rate: number;
  /** Answers every call with a 503 or a cut connection, in turn, and executes nothing. */
  down: boolean;
  /** Share of new orders that are refused. Endings with a plan take precedence. */
  refuse_rate: number;
  /** Share of new orders that execute without an answer. Endings with a plan take precedence. */
  timeout_after_execute_rate: number;
  /** Answers every call with this response code without executing. Null: off. */
  answer_with: '01' | '02' | '03' | '04' | '06' | '07' | null;
  /** Milliseconds until a pending order becomes final. */
  pending_ms: number;
  /** Balance of GET /balance in rupiah. */
  balance: number;
  /**
   * Address of callbacks (docs/reference/api/callbacks.md#inbound-callbacks). Null: no callbacks.
   */
  callback_url: string | null;
  /** Secret of callbacks: `whsec_…` or plain text. Null: the secret of requests. */
  callback_secret: string | null;
}

export interface Settings extends Behaviour {
  /** Overrides by simulator username. */
  providers: Record<string, Partial<Behaviour>>;
}

/**
 * Body of POST /control: changes only the given fields. `null` for a provider removes its
 * overrides.
 */
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
  /** @throws HttpMistake 400 that lists every mistake. Nothing is changed then. */
  change(input: unknown): void;
  reset(): void;
  /** Returns the settings for GET /control without secrets. */
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
