/**
 * The only reader of process.env. Every process validates all of its configuration here at start and stops
 * with the whole list of mistakes, so that an operator fixes them in one round. A setting has the same name
 * in the environment and in the code, so that one search finds both.
 */
import { createHash } from 'node:crypto';
import Joi from 'joi';

export interface Env {
  NODE_ENV: 'development' | 'test' | 'production';
  /** `sandbox` polls on a short schedule and uses the simulator; `live` keeps the providers' real schedule. */
  APP_MODE: 'sandbox' | 'live';
  PORT: number;
  /** Public root address, used in links that we hand out. Null: derived from PORT. */
  BASE_URL: string | null;
  MONGODB_URI: string;
  MONGODB_POOL_SIZE: number;
  REDIS_URL: string;
  /** Prefix of every Redis key, so that two copies can share a server. */
  QUEUE_PREFIX: string;
  /** 32 random bytes in base64: API keys and webhook secrets are stored encrypted with it. */
  ENCRYPTION_KEY: string;
  SESSION_SECRET: string;
  LOG_LEVEL: 'error' | 'warn' | 'info' | 'debug';
  /** Hop count, or a comma-separated list of proxy addresses and subnets. Never `true`: clients could then forge their address. */
  TRUST_PROXY: string;
  BUSINESS_TIMEZONE: string;
  DEPOSIT_MODE: 'instant' | 'confirm';
  SIMULATOR_URL: string | null;
  RESELLER_SYNC_WAIT_MS: number;
  REPORT_SYNC_WAIT_MS: number;
  /** Milliseconds after which an unknown outcome goes to the operator's review list. */
  UNKNOWN_REVIEW_AFTER: number;
  /** Rupiah, flat. */
  SETTLEMENT_FEE: number;
  SETTLEMENT_NEW_ACCOUNT_REVIEW: boolean;
  PAYOUT_MODE: 'simulated' | 'manual';
  /** Fraction of a sale kept by the platform where a seller has no rate of its own. */
  COMMISSION_RATE: number;
  WEBHOOK_ALLOW_PRIVATE: boolean;
  /** Milliseconds that a receiver of webhooks has for its whole answer. */
  WEBHOOK_TIMEOUT_MS: number;
  /** Purchases that one fulfilment process handles at the same time. */
  FULFILMENT_CONCURRENCY: number;
}

/** Development only: fixed, so that a restarted copy can still read what it stored. */
const developmentKey = createHash('sha256').update('topup development key').digest('base64');
const developmentSecret = 'development-session-secret-not-for-production';

function inProduction(then: Joi.Schema, otherwise: Joi.Schema): Joi.Schema {
  return Joi.when('NODE_ENV', { is: 'production', then, otherwise });
}

function byNodeEnv(values: { production: string; otherwise: string }) {
  return (parent: { NODE_ENV?: string }) =>
    parent.NODE_ENV === 'production' ? values.production : values.otherwise;
}

const url = (...scheme: string[]) => Joi.string().uri({ scheme });
const bytes32 = Joi.string().custom(check32Bytes);

const schema = Joi.object<Env>({
  NODE_ENV: Joi.string().valid('development', 'test', 'production').default('development'),
  APP_MODE: Joi.string()
    .valid('sandbox', 'live')
    .default(byNodeEnv({ production: 'live', otherwise: 'sandbox' })),
  PORT: Joi.number().port().default(3000),
  BASE_URL: inProduction(url('http', 'https').required(), url('http', 'https').default(null)),
  MONGODB_URI: url('mongodb', 'mongodb+srv').required(),
  MONGODB_POOL_SIZE: Joi.number().integer().min(1).max(1_000).default(100),
  REDIS_URL: url('redis', 'rediss').required(),
  QUEUE_PREFIX: Joi.string()
    .pattern(/^[a-z0-9-]{1,40}$/)
    .default('topup'),
  ENCRYPTION_KEY: inProduction(bytes32.required(), bytes32.default(developmentKey)),
  SESSION_SECRET: inProduction(
    Joi.string().min(32).invalid(developmentSecret).required(),
    Joi.string().min(16).default(developmentSecret),
  ),
  LOG_LEVEL: Joi.string().valid('error', 'warn', 'info', 'debug').default('info'),
  TRUST_PROXY: Joi.string().invalid('true', 'false').default('0').messages({
    'any.invalid': '"TRUST_PROXY" must be a number of hops or a list of subnets, never true or false',
  }),
  BUSINESS_TIMEZONE: Joi.string().custom(checkTimezone).default('Asia/Jakarta'),
  DEPOSIT_MODE: Joi.string()
    .valid('instant', 'confirm')
    .default(byNodeEnv({ production: 'confirm', otherwise: 'instant' })),
  SIMULATOR_URL: url('http', 'https').default(null),
  RESELLER_SYNC_WAIT_MS: Joi.number().integer().min(0).max(60_000).default(5_000),
  REPORT_SYNC_WAIT_MS: Joi.number().integer().min(0).max(60_000).default(10_000),
  UNKNOWN_REVIEW_AFTER: Joi.number().integer().min(1_000).default(86_400_000),
  SETTLEMENT_FEE: Joi.number().integer().min(0).max(49_999).default(2_500),
  SETTLEMENT_NEW_ACCOUNT_REVIEW: Joi.boolean().default(false),
  PAYOUT_MODE: Joi.string().valid('simulated', 'manual').default('simulated'),
  COMMISSION_RATE: Joi.number().min(0).max(1).default(0.02),
  WEBHOOK_ALLOW_PRIVATE: inProduction(
    Joi.boolean().valid(false).default(false).messages({
      'any.only': '"WEBHOOK_ALLOW_PRIVATE" is for development and is refused in production',
    }),
    Joi.boolean().default(true),
  ),
  WEBHOOK_TIMEOUT_MS: Joi.number().integer().min(1_000).max(20_000).default(15_000),
  FULFILMENT_CONCURRENCY: Joi.number().integer().min(1).max(500).default(50),
}).options({ stripUnknown: true, abortEarly: false });

function check32Bytes(value: string, helpers: Joi.CustomHelpers) {
  return Buffer.from(value, 'base64').length === 32
    ? value
    : helpers.message({ custom: '{{#label}} must be 32 random bytes in base64 (openssl rand -base64 32)' });
}

function checkTimezone(value: string, helpers: Joi.CustomHelpers) {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return value;
  } catch {
    return helpers.message({ custom: '{{#label}} must be an IANA time zone such as Asia/Jakarta' });
  }
}

/**
 * Checks a set of variables. Empty ones count as not set, as in most shells and .env files.
 * @throws Error whose message lists every mistake, one a line, and never a value.
 */
export function parseEnv(source: NodeJS.ProcessEnv): Env {
  const present = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''));
  const result = schema.validate(present);
  if (result.error) {
    const mistakes = result.error.details.map((detail) => `  - ${withoutValue(detail.message)}`).join('\n');
    throw new Error(`The configuration is not valid:\n${mistakes}\nSee .env.example for every variable.`);
  }
  return result.value;
}

/** Joi quotes the offending value in some messages; it may be a secret. */
function withoutValue(message: string): string {
  return message.replace(/ with value ".*?"/, '');
}

function readOrExit(): Env {
  try {
    return parseEnv(process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

export const env: Env = readOrExit();
