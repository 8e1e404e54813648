/** Which secrets the inbox checks with and how it answers, as POST /control sets it. */
import Joi from 'joi';
import { HttpMistake } from '../support/http.js';

/** How deliveries are answered. Rates are shares of deliveries, 0 to 1. */
export interface AnswerRule {
  /** Share that gets no answer at all. */
  hang_rate: number;
  /** Share that gets `fail_status` instead of 200. */
  fail_rate: number;
  fail_status: number;
  /** Sent with a failure, such as `retry-after` or `location`. */
  fail_headers: Record<string, string>;
  /** Milliseconds before any answer. */
  delay_ms: number;
  /** The `status` of the answer. Null: a 200 without any body. */
  ack: string | null;
  /** How many deliveries the rule is for; after them the rule ends. Null: for ever. */
  times: number | null;
}

export const friendly: AnswerRule = {
  hang_rate: 0,
  fail_rate: 0,
  fail_status: 500,
  fail_headers: {},
  delay_ms: 0,
  ack: 'received',
  times: null,
};

/**
 * What POST /control takes. A key is a path such as `/hooks/shop`, which covers what is below it too, the name
 * of an account, which stands for `/hooks/<account>`, or `*` for everything else. `null` takes an entry away.
 */
export interface InboxChange {
  secrets?: Record<string, string | string[] | null>;
  answers?: Record<string, Partial<AnswerRule> | null>;
  /** For `webhook-timestamp`; null switches the check off. */
  timestamp_tolerance_s?: number | null;
}

/** What GET /control shows: never a secret, only for what there is one. */
export interface ShownInboxSettings {
  secrets: string[];
  answers: Record<string, AnswerRule>;
  timestamp_tolerance_s: number | null;
}

const rate = Joi.number().min(0).max(1);
const key = Joi.string().pattern(/^(\*|\/?[A-Za-z0-9._~/-]{1,200})$/);
const secret = Joi.string().min(1).max(200);
const changeSchema = Joi.object<InboxChange>({
  secrets: Joi.object().pattern(key, [secret, Joi.array().items(secret).min(1), Joi.valid(null)]),
  answers: Joi.object().pattern(
    key,
    Joi.object({
      hang_rate: rate,
      fail_rate: rate,
      fail_status: Joi.number().integer().min(200).max(599),
      fail_headers: Joi.object().pattern(/^[A-Za-z0-9-]+$/, Joi.string().pattern(/^[\x20-\x7e]*$/)),
      delay_ms: Joi.number().integer().min(0).max(600_000),
      ack: Joi.string().allow(null, ''),
      times: Joi.number().integer().min(1).allow(null),
    }).allow(null),
  ),
  timestamp_tolerance_s: Joi.number().integer().min(0).allow(null),
}).options({ convert: false, abortEarly: false });

export interface InboxSettings {
  /** @throws HttpMistake 400 that lists every mistake, without a secret; then nothing was changed. */
  change(input: unknown): void;
  /** Friendly answers again; the secrets stay. */
  resetAnswers(): void;
  show(): ShownInboxSettings;
  /** Empty when none is known for the path. */
  secretsFor(path: string): readonly string[];
  /** The rule for a delivery that has just come; counts it. */
  takeAnswer(path: string): AnswerRule;
  toleranceMs(): number | null;
}

export function createInboxSettings(): InboxSettings {
  const secrets = new Map<string, string[]>();
  const answers = new Map<string, AnswerRule>();
  let toleranceS: number | null = 300;
  return {
    change(input) {
      const result = changeSchema.validate(input, { errors: { render: true } });
      if (result.error) {
        throw new HttpMistake(
          400,
          result.error.details.map(({ path, type }) => `${path.join('.')}: ${type}`).join('; '),
        );
      }
      const { value } = result;
      toleranceS = value.timestamp_tolerance_s === undefined ? toleranceS : value.timestamp_tolerance_s;
      assign(secrets, value.secrets, (given) => (typeof given === 'string' ? [given] : given));
      assign(answers, value.answers, (given) => ({ ...friendly, ...given }));
    },
    resetAnswers: () => answers.clear(),
    show: () => ({
      secrets: [...secrets.keys()],
      answers: Object.fromEntries(answers),
      timestamp_tolerance_s: toleranceS,
    }),
    secretsFor: (path) => secrets.get(closestKey(secrets, path) ?? '') ?? [],
    takeAnswer(path) {
      const found = closestKey(answers, path);
      const rule = found === null ? undefined : answers.get(found);
      if (found === null || rule === undefined) {
        return friendly;
      }
      if (rule.times !== null) {
        if (rule.times === 1) {
          answers.delete(found);
        } else {
          answers.set(found, { ...rule, times: rule.times - 1 });
        }
      }
      return rule;
    },
    toleranceMs: () => (toleranceS === null ? null : toleranceS * 1_000),
  };
}

function assign<Given, Kept>(
  kept: Map<string, Kept>,
  change: Record<string, Given | null> | undefined,
  convert: (given: NonNullable<Given>) => Kept,
): void {
  for (const [name, given] of Object.entries(change ?? {})) {
    const path = name === '*' || name.startsWith('/') ? name.replace(/\/+$/, '') : `/hooks/${name}`;
    if (given === null || given === undefined) {
      kept.delete(path);
    } else {
      kept.set(path, convert(given));
    }
  }
}

/** The longest key that is the path or lies above it, else `*`, else null. */
function closestKey(map: ReadonlyMap<string, unknown>, path: string): string | null {
  for (let prefix = path; prefix !== ''; prefix = prefix.slice(0, prefix.lastIndexOf('/'))) {
    if (map.has(prefix)) {
      return prefix;
    }
  }
  return map.has('*') ? '*' : null;
}
