/**
 * The only reader of process.env. Every process validates all its settings at start. If there are
 * mistakes, it lists all of them and exits. A setting has the same name in the environment and in
 * the code.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import Joi from 'joi';
import { developmentKey, developmentSecret, decodeKey, findKeysMistake, readKeyring } from './keyring.js';
import { decodeUriPart, readHosts, readRedisUrl } from './server-addresses.js';
import { acceptableRisks, isGuarded, refusedSettings } from './refused-settings.js';
import type { Env, GivenEnv } from './settings.js';
import { getProcessTypes, getForeignSettings, type OwnSetting } from './settings-of-processes.js';

export type { Env };

/** Returns a Joi default that depends on `isGuarded`. */
function ifGuarded<G, U>(then: G, otherwise: U) {
  return (parent: { NODE_ENV?: string; APP_MODE?: string }): G | U => (isGuarded(parent) ? then : otherwise);
}

const url = (...scheme: string[]) => Joi.string().uri({ scheme });

const addressMessage = { custom: '{{#label}} must be an address in the form that .env.example shows' };

const schema = Joi.object<GivenEnv>({
  NODE_ENV: Joi.string().valid('development', 'test', 'production').default('development'),
  APP_MODE: Joi.string()
    .valid('sandbox', 'live')
    .default((parent: { NODE_ENV?: string }) => (parent.NODE_ENV === 'production' ? 'live' : 'sandbox')),
  PORT: Joi.number().port().default(3000),
  LISTEN_ADDRESS: Joi.string().ip({ cidr: 'forbidden' }).default(ifGuarded(null, '127.0.0.1')),
  BASE_URL: url('http', 'https').default(null),
  MONGODB_URI: Joi.string().custom(checkMongoUri).required(),
  MONGODB_POOL_SIZE: Joi.number().integer().min(1).max(1_000).default(100),
  MONGODB_SHARD_SPLITS: Joi.string().custom(checkSplits).default([]),
  REDIS_URL: Joi.string().custom(checkRedisUrl).required(),
  REDIS_CLUSTER: Joi.boolean().default(false),
  REDIS_SENTINEL: Joi.string().max(200).default(null),
  REDIS_SENTINEL_PASSWORD: Joi.string().max(1_000).default(null),
  REDIS_TLS_CA: Joi.string().custom(readCertificates).default(null),
  REDIS_TLS_SELF_SIGNED: Joi.boolean().default(false),
  QUEUE_PREFIX: Joi.string()
    .pattern(/^(?=.{1,40}$)(?=.)[a-z0-9-]*(\{[a-z0-9-]+\}[a-z0-9-]*)?$/)
    .messages({
      'string.pattern.base':
        '{{#label}} must be 1 to 40 characters of a-z, 0-9 and -, with at most one \\{hash-tag}',
    })
    .default('topup'),
  ENCRYPTION_KEY: Joi.string().custom(check32Bytes).default(ifGuarded(null, developmentKey)),
  ENCRYPTION_KEYS: Joi.string().custom(checkKeys).default(null),
  SESSION_SECRET: Joi.string().min(16).default(ifGuarded(null, developmentSecret)),
  METRICS_PORT: Joi.number().port().default(null),
  METRICS_HOST: Joi.string().ip({ cidr: 'forbidden' }).default('127.0.0.1').messages({
    'string.ip': '"METRICS_HOST" must be an IP address of this machine, such as 127.0.0.1, not a name',
  }),
  ALERT_WEBHOOK_URL: url('http', 'https').default(null),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('http', 'https').default(null),
  OTEL_TRACES_SAMPLER_ARG: Joi.number().min(0).max(1).default(0.1),
  LOG_LEVEL: Joi.string().valid('error', 'warn', 'info', 'debug').default('info'),
  TRUST_PROXY: Joi.string().invalid('true', 'false').default('0').messages({
    'any.invalid': '"TRUST_PROXY" must be a number of hops or a list of subnets, never true or false',
  }),
  BUSINESS_TIMEZONE: Joi.string().custom(checkTimezone).default('Asia/Jakarta'),
  DEPOSIT_MODE: Joi.string().valid('instant', 'confirm').default(ifGuarded('confirm', 'instant')),
  PAYMENT_NOTIFY_SECRET: Joi.string().min(32).max(1_000).default(null),
  SIMULATOR_URL: url('http', 'https').default(null),
  RESELLER_SYNC_WAIT_MS: Joi.number().integer().min(0).max(60_000).default(5_000),
  REPORT_SYNC_WAIT_MS: Joi.number().integer().min(0).max(60_000).default(10_000),
  REPORTS_PER_DAY: Joi.number()
    .integer()
    .min(1)
    .max(1_000_000)
    .default((parent: { APP_MODE?: string }) => (parent.APP_MODE === 'live' ? 200 : 2_000)),
  REQUEST_LOG_HOURS: Joi.number().integer().min(0).max(168).default(24),
  UNKNOWN_REVIEW_AFTER: Joi.number().integer().min(1_000).default(86_400_000),
  HOLIDAYS_FILE: Joi.string().default(null),
  SETTLEMENT_FEE: Joi.number().integer().min(0).max(49_999).default(2_500),
  SETTLEMENT_NEW_ACCOUNT_REVIEW: Joi.boolean().default(ifGuarded(true, false)),
  PAYOUT_MODE: Joi.string().valid('simulated', 'manual').default(ifGuarded(null, 'simulated')),
  ADJUSTMENT_APPROVAL_FROM: Joi.number().integer().min(0).default(1_000_000),
  COMMISSION_RATE: Joi.number().min(0).max(1).default(0.02),
  WEBHOOK_ALLOW_PRIVATE: Joi.boolean().default(ifGuarded(false, true)),
  WEBHOOK_TIMEOUT_MS: Joi.number().integer().min(1_000).max(20_000).default(15_000),
  WEBHOOK_PROXY_URL: Joi.string().custom(checkProxyUrl).default(null),
  OUTGOING_ADDRESSES: Joi.string().custom(readAddresses).default([]),
  FULFILMENT_CONCURRENCY: Joi.number().integer().min(1).max(500).default(50),
  CUSTOMER_NUMBER_MONTHS: Joi.number().integer().min(0).max(120).default(24),
  LEDGER_CLOSE_KEY: Joi.string().default(null),
  ACCEPTED_RISKS: Joi.string().custom(readRisks).default([]),
}).options({ stripUnknown: true, abortEarly: false });

function checkRedisUrl(value: string, helpers: Joi.CustomHelpers) {
  return readRedisUrl(value, 6_379) ? value : helpers.message(addressMessage);
}

/**
 * Refuses hosts, users and passwords for which the MongoDB driver would throw an error with a stack
 * trace.
 */
function checkMongoUri(value: string, helpers: Joi.CustomHelpers) {
  const [, srv, userInfo = '', hosts = ''] =
    /^mongodb(\+srv)?:\/\/(?:([^\s/?#]*)@)?([^\s/?#@]+)(?:[/?]\S*)?$/.exec(value) ?? [];
  const isOneName = srv === undefined || /^[^:,]+$/.test(hosts);
  return readHosts(hosts, 27_017) && isOneName && decodeUriPart(userInfo) !== null
    ? value
    : helpers.message(addressMessage);
}

function checkProxyUrl(value: string, helpers: Joi.CustomHelpers) {
  return isProxyUrl(value)
    ? value
    : helpers.message({
        custom: '{{#label}} must be http(s)://[user:password@]host:port without a path',
      });
}

function isProxyUrl(value: string): boolean {
  if (!URL.canParse(value)) {
    return false;
  }
  const { protocol, hostname, pathname, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && hostname !== '' && `${pathname}${search}${hash}` === '/';
}

function readAddresses(value: string, helpers: Joi.CustomHelpers) {
  const addresses = value.split(',').map((each) => each.trim());
  return addresses.every((each) => ipaddr.isValid(each) || ipaddr.isValidCIDR(each))
    ? addresses
    : helpers.message({
        custom: '{{#label}} must be addresses or networks (203.0.113.7, 203.0.113.0/28), separated by commas',
      });
}

/** Accepts the PEM text itself, with line breaks or `\n`, or the path of a PEM file. */
function readCertificates(value: string, helpers: Joi.CustomHelpers) {
  const text = value.includes('-----BEGIN') ? value.replaceAll('\\n', '\n') : readTextOrEmpty(value);
  try {
    // X509Certificate reads only the first certificate. The others are checked when the connection
    // to Redis is made.
    new X509Certificate(text);
    return text;
  } catch {
    return helpers.message({
      custom: '{{#label}} must be PEM certificates or the path of a PEM file',
    });
  }
}

function readTextOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function checkSplits(value: string, helpers: Joi.CustomHelpers) {
  const splits = value.split(',').map((each) => each.trim());
  const isRising = splits.every((each, index) => index === 0 || (splits[index - 1] ?? '') < each);
  return splits.length < 256 && isRising && splits.every((each) => /^[0-9a-f]{1,32}$/.test(each))
    ? splits
    : helpers.message({ custom: '{{#label}} must be account ids in ascending order, separated by commas' });
}

function check32Bytes(value: string, helpers: Joi.CustomHelpers) {
  return decodeKey(value).length === 32
    ? value
    : helpers.message({ custom: '{{#label}} must be 32 random bytes in base64 (openssl rand -base64 32)' });
}

function checkKeys(value: string, helpers: Joi.CustomHelpers) {
  const mistake = findKeysMistake(value);
  return mistake === null ? value : helpers.message({ custom: `{{#label}} ${mistake}` });
}

function readRisks(value: string, helpers: Joi.CustomHelpers) {
  const names = value.split(',').map((name) => name.trim());
  return names.every((name) => acceptableRisks.includes(name))
    ? names
    : helpers.message({
        custom: `{{#label}} must be a comma-separated list of ${acceptableRisks.join(', ')}`,
      });
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
 * Validates a set of variables. An empty variable counts as not set.
 *
 * @param processes Process types (see `getProcessTypes`). Settings of other processes are neither
 *   required nor readable.
 * @throws Error whose message lists every mistake, one per line. It contains no value.
 */
export function parseEnv(source: NodeJS.ProcessEnv, processes: string[] | null = null): Env {
  const notOurs = getForeignSettings(processes);
  const present = Object.fromEntries(
    Object.entries(source).filter(([name, value]) => value !== '' && !isOneOf(notOurs, name)),
  );
  const { error, value } = schema.validate(present) as { error?: Joi.ValidationError; value: GivenEnv };
  const mistakes = error
    ? error.details.map((detail) => removeValue(detail.message))
    : [...findCombinedMistakes(value, processes), ...findRefusals(value, notOurs)];
  if (mistakes.length > 0) {
    const list = mistakes.map((each) => `  - ${each}`).join('\n');
    throw new Error(`The configuration is not valid:\n${list}\nSee .env.example for every variable.`);
  }
  return hideForeignSettings(value, notOurs, processes);
}

/** Finds mistakes in combinations of settings. */
function findCombinedMistakes(env: GivenEnv, processes: string[] | null): string[] {
  return [...findKeyringMistakes(env), ...findRedisMistakes(env), ...findPortMistakes(env, processes)];
}

/** Checks PORT, which only web processes use. Port 0 means any free port. */
function findPortMistakes(env: GivenEnv, processes: string[] | null): string[] {
  const isWeb = processes === null || processes.includes('web');
  return isWeb && env.METRICS_PORT === env.PORT && env.PORT !== 0
    ? ['"METRICS_PORT" must differ from PORT: metrics need a port of their own']
    : [];
}

function findRedisMistakes(env: GivenEnv): string[] {
  const { nodes, db, isTls } = readRedisUrl(env.REDIS_URL, 6_379) ?? { nodes: [], db: 0, isTls: false };
  const isOne = !env.REDIS_CLUSTER && env.REDIS_SENTINEL === null;
  return [
    isOne &&
      nodes.length > 1 &&
      '"REDIS_URL" names several servers: set REDIS_CLUSTER or REDIS_SENTINEL, or name one',
    env.REDIS_CLUSTER &&
      env.REDIS_SENTINEL !== null &&
      '"REDIS_SENTINEL" excludes REDIS_CLUSTER: set only one of them',
    env.REDIS_CLUSTER && db > 0 && '"REDIS_URL" must not name a database number, because a Cluster has none',
    env.REDIS_SENTINEL_PASSWORD !== null &&
      env.REDIS_SENTINEL === null &&
      '"REDIS_SENTINEL_PASSWORD" is only for Sentinels: set REDIS_SENTINEL',
    env.REDIS_TLS_CA !== null &&
      !isTls &&
      '"REDIS_TLS_CA" is only for TLS: REDIS_URL must begin with rediss://',
    env.REDIS_TLS_SELF_SIGNED &&
      !isTls &&
      '"REDIS_TLS_SELF_SIGNED" is only for TLS: REDIS_URL must begin with rediss://',
  ].filter((mistake) => mistake !== false);
}

function findKeyringMistakes(env: GivenEnv): string[] {
  const single = env.ENCRYPTION_KEY === null ? null : decodeKey(env.ENCRYPTION_KEY);
  const listed = readKeyring({ ...env, ENCRYPTION_KEY: null });
  const isOther = listed.some(({ id, key }) => single && (id === '0') !== key.equals(single));
  return isOther && env.ENCRYPTION_KEY !== developmentKey
    ? ['"ENCRYPTION_KEYS" must use the id 0 for ENCRYPTION_KEY and for no other key']
    : [];
}

function findRefusals(env: GivenEnv, notOurs: OwnSetting[]): string[] {
  if (!isGuarded(env)) {
    return [];
  }
  return refusedSettings
    .filter((each) => !isOneOf(notOurs, each.setting) && each.isSo(env))
    .filter(({ acceptedAs }) => acceptedAs === null || !env.ACCEPTED_RISKS.includes(acceptedAs))
    .map(({ setting, value, why, instead, acceptedAs }) => {
      const orElse = acceptedAs === null ? '' : `, or accept the risk with ACCEPTED_RISKS=${acceptedAs}`;
      const refusal = `"${setting}" is refused in production (${value}): ${why}. Use ${instead}${orElse}`;
      return refusal.replaceAll('`', '');
    });
}

/** Makes settings of other processes throw when they are read, so that a test finds the mistake. */
function hideForeignSettings(rawEnv: GivenEnv, notOurs: OwnSetting[], processes: string[] | null): Env {
  // Required settings are not null here: validation refused null, or reading the setting throws.
  const env = rawEnv as Env;
  for (const name of notOurs) {
    Object.defineProperty(env, name, {
      enumerable: false,
      get() {
        throw new Error(
          `${name} is not for ${processes?.join(', ') ?? ''}: see config/settings-of-processes.ts`,
        );
      },
    });
  }
  return env;
}

function isOneOf(names: readonly string[], name: string): boolean {
  return names.includes(name);
}

/** Removes the offending value from a Joi message, because the value may be a secret. */
function removeValue(message: string): string {
  return message.replace(/ with value ".*?"/, '');
}

function readOrExit(): Env {
  try {
    return parseEnv(process.env, getProcessTypes(process.argv));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

export const env: Env = readOrExit();

/** Names of the settings that the environment sets. All other settings have their defaults. */
export const givenSettings: ReadonlySet<string> = new Set(
  Object.entries(process.env)
    .filter(([, value]) => value !== '')
    .map(([name]) => name),
);
