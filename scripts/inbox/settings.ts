/** Secrets and response rules of the inbox, as set by POST /control. */
import Joi from 'joi';
import { HttpMistake } from '../support/http.js';

/** Rule for the responses to deliveries. Rates are shares from 0 to 1. */
export interface AnswerRule {
  /** Share of deliveries that get no response. */
  hang_rate: number;
  /** Share of deliveries that get `fail_status` instead of 200. */
  fail_rate: number;
  fail_status: number;
  /** Headers of a failure response, such as `retry-after` or `location`. */
  fail_headers: Record<string, string>;
  /** Delay before any response, in milliseconds. */
  delay_ms: number;
  /** The `status` field of the response. Null for a 200 without a body. */
  ack: string | null;
  /** Number of deliveries until the rule expires. Null if it never expires. */
  times: number | null;
}

export const defaultRule: AnswerRule = {
  hang_rate: 0,
  fail_rate: 0,
  fail_status: 500,
  fail_headers: {},
  delay_ms: 0,
  ack: 'received',
  times: null,
};

/**
 * Body of POST /control. A key is a path, an account name or `*`. A path such as `/hooks/shop`
 * includes all paths below it. An account name means `/hooks/<account>`. `*` means all other paths.
 * `null` removes an entry.
 */
export interface InboxChange {
  secrets?: Record<string, string | string[] | null>;
  answers?: Record<string, Partial<AnswerRule> | null>;
  /** Tolerance for `webhook-timestamp`, in seconds. Null disables the check. */
  timestamp_tolerance_s?: number | null;
}

/** Body of GET /control. It names the keys that have a secret, but never the secrets. */
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
  /**
   * @throws HttpMistake 400 that lists every mistake, without secrets. In that case nothing is
   * changed.
   */
  change(input: unknown): void;
  /** Restores the default response rules and keeps the secrets. */
  resetAnswers(): void;
  show(): ShownInboxSettings;
  /** Returns the secrets for a path. Empty if none is known. */
  secretsFor(path: string): readonly string[];
  /** Returns the rule for a new delivery, and counts the delivery. */
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
      applyChange(secrets, value.secrets, (secretOrList) =>
        typeof secretOrList === 'string' ? [secretOrList] : secretOrList,
      );
      applyChange(answers, value.answers, (answer) => ({ ...defaultRule, ...answer }));
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
        return defaultRule;
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

function applyChange<Given, Kept>(
  target: Map<string, Kept>,
  change: Record<string, Given | null> | undefined,
  convert: (input: NonNullable<Given>) => Kept,
): void {
  for (const [name, given] of Object.entries(change ?? {})) {
    const path = name === '*' || name.startsWith('/') ? name.replace(/\/+$/, '') : `/hooks/${name}`;
    if (given === null || given === undefined) {
      target.delete(path);
    } else {
      target.set(path, convert(given));
    }
  }
}

/**
 * Returns the longest key that equals the path or is its parent. Otherwise `*` if it exists, or
 * null.
 */
function closestKey(map: ReadonlyMap<string, unknown>, path: string): string | null {
  for (let prefix = path; prefix !== ''; prefix = prefix.slice(0, prefix.lastIndexOf('/'))) {
    if (map.has(prefix)) {
      return prefix;
    }
  }
  return map.has('*') ? '*' : null;
}
