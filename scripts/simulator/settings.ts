/**
 * Behaviour of the simulator, set by POST /control for all providers, with overrides per provider.
 */
import Joi from 'joi';
import { HttpMistake } from '../support/http.js';

export interface Behaviour {
  /** Milliseconds between execution and response. */
  latency_ms: number;
  /**
   * Share of calls that fail: with a 503 or a closed connection before execution, or with a closed
   * connection after it.
   */
  fault_rate: number;
  /**
   * If true, executes nothing and responds to calls alternately with a 503 and a closed connection.
   */
  down: boolean;
  /** Share of new orders that are refused. Endings with a plan take precedence. */
  refuse_rate: number;
  /**
   * Share of new orders that are executed without a response. Endings with a plan take precedence.
   */
  timeout_after_execute_rate: number;
  /** Response code for every call, without execution. Null if calls are handled normally. */
  answer_with: '01' | '02' | '03' | '04' | '06' | '07' | null;
  /** Milliseconds until a pending order becomes final. */
  pending_ms: number;
  /** Balance in rupiah that GET /balance shows. */
  balance: number;
  /**
   * Milliseconds from the start of the simulator until the supplier kilat raises some of its costs.
   * With 0 they are raised at once.
   */
  price_raise_ms: number;
  /**
   * Address of callbacks (docs/reference/api/callbacks.md#inbound-callbacks). Null for no
   * callbacks.
   */
  callback_url: string | null;
  /** Secret of callbacks, as `whsec_…` or plain text. Null to use the secret of requests. */
  callback_secret: string | null;
}

export interface Settings extends Behaviour {
  /** Overrides per provider, keyed by its username at the simulator. */
  providers: Record<string, Partial<Behaviour>>;
}

/**
 * Body of POST /control. Only the given fields are changed. `null` for a provider removes its
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
  price_raise_ms: 300_000,
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
  price_raise_ms: milliseconds,
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
  /** @throws HttpMistake 400 that lists every mistake. In that case nothing is changed. */
  change(input: unknown): void;
  reset(): void;
  /** Returns the settings without secrets, for GET /control. */
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
      ...hideSecret(common),
      providers: Object.fromEntries(
        [...own].map(([provider, behaviour]) => [provider, hideSecret(behaviour)]),
      ),
    }),
  };
}

function hideSecret<T extends Partial<Behaviour>>(shown: T): T {
  return typeof shown.callback_secret === 'string' ? { ...shown, callback_secret: '(set)' } : shown;
}
