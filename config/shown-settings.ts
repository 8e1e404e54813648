/**
 * Shows an operator the settings of this process: the effective value of each, and whether the
 * environment sets it. Never shows a secret.
 */
import type { Env } from './settings.js';

/**
 * How a setting is shown. The compiler requires an entry for each setting.
 *
 * - `value`: unchanged.
 * - `address`: without user, password, path and query.
 * - `secret`: only whether it is set.
 */
export const shownAs: Readonly<Record<keyof Env, 'value' | 'address' | 'secret'>> = {
  NODE_ENV: 'value',
  APP_MODE: 'value',
  PORT: 'value',
  LISTEN_ADDRESS: 'value',
  BASE_URL: 'address',
  MONGODB_URI: 'address',
  MONGODB_POOL_SIZE: 'value',
  MONGODB_SHARD_SPLITS: 'value',
  REDIS_URL: 'address',
  REDIS_CLUSTER: 'value',
  REDIS_SENTINEL: 'value',
  REDIS_SENTINEL_PASSWORD: 'secret',
  // The certificate is public, but showing it would not help the operator.
  REDIS_TLS_CA: 'secret',
  REDIS_TLS_SELF_SIGNED: 'value',
  QUEUE_PREFIX: 'value',
  ENCRYPTION_KEY: 'secret',
  ENCRYPTION_KEYS: 'secret',
  SESSION_SECRET: 'secret',
  METRICS_PORT: 'value',
  METRICS_HOST: 'value',
  ALERT_WEBHOOK_URL: 'secret',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'address',
  OTEL_TRACES_SAMPLER_ARG: 'value',
  LOG_LEVEL: 'value',
  TRUST_PROXY: 'value',
  BUSINESS_TIMEZONE: 'value',
  DEPOSIT_MODE: 'value',
  PAYMENT_NOTIFY_SECRET: 'secret',
  SIMULATOR_URL: 'address',
  RESELLER_SYNC_WAIT_MS: 'value',
  REPORT_SYNC_WAIT_MS: 'value',
  REPORTS_PER_DAY: 'value',
  REQUEST_LOG_HOURS: 'value',
  UNKNOWN_REVIEW_AFTER: 'value',
  SETTLEMENT_FEE: 'value',
  HOLIDAYS_FILE: 'value',
  SETTLEMENT_NEW_ACCOUNT_REVIEW: 'value',
  PAYOUT_MODE: 'value',
  ADJUSTMENT_APPROVAL_FROM: 'value',
  COMMISSION_RATE: 'value',
  WEBHOOK_ALLOW_PRIVATE: 'value',
  WEBHOOK_TIMEOUT_MS: 'value',
  WEBHOOK_PROXY_URL: 'address',
  OUTGOING_ADDRESSES: 'value',
  FULFILMENT_CONCURRENCY: 'value',
  CUSTOMER_NUMBER_MONTHS: 'value',
  LEDGER_CLOSE_KEY: 'secret',
  ACCEPTED_RISKS: 'value',
};

export interface ShownSetting {
  name: string;
  shown: 'value' | 'address' | 'secret';
  /** False if the setting belongs to another process and cannot be read here. */
  isRead: boolean;
  /** True if the environment sets the value. Otherwise it is the default. */
  isGiven: boolean;
  isSet: boolean;
  /**
   * The shown value. Null if the setting is not set, is a secret, or belongs to another process.
   */
  value: string | null;
}

/**
 * Returns all settings, sorted by name.
 * @param definedNames Names of the variables that the environment sets.
 */
export function listShownSettings(env: Env, definedNames: ReadonlySet<string>): ShownSetting[] {
  return (Object.keys(shownAs) as (keyof Env)[]).toSorted().map((name) => {
    const shown = shownAs[name];
    // Settings of other processes are not enumerable, and they throw when they are read.
    if (!Object.keys(env).includes(name)) {
      return { name, shown, isRead: false, isGiven: false, isSet: false, value: null };
    }
    const rawValue = env[name];
    const isSet = rawValue !== null && !(Array.isArray(rawValue) && rawValue.length === 0);
    const value = isSet && shown !== 'secret' ? String(rawValue) : null;
    return {
      name,
      shown,
      isRead: true,
      isGiven: definedNames.has(name),
      isSet,
      value: value !== null && shown === 'address' ? redactSecrets(value) : value,
    };
  });
}

const addressPattern = /^([a-z+]+):\/\/([^/?#]*)(.*)$/is;
const databaseSchemePattern = /^(mongodb|redis)/i;
const databaseNamePattern = /^\/[\w-]+/;

/**
 * Keeps the scheme, the hosts and the name of a database. Replaces the rest by `…`, because many
 * services put keys into the path or the query.
 */
function redactSecrets(address: string): string {
  const [, scheme = '', authority = '', rest = ''] = addressPattern.exec(address) ?? [];
  // If a password contains a slash, its first part would look like a host.
  if (scheme === '' || rest.includes('@')) {
    return '…';
  }
  const at = authority.lastIndexOf('@');
  const database = databaseSchemePattern.test(scheme) ? (databaseNamePattern.exec(rest)?.[0] ?? '') : '';
  const isWhole = rest === database || rest === '/';
  return `${scheme}://${at < 0 ? '' : '…@'}${authority.slice(at + 1)}${database}${isWhole ? '' : '…'}`;
}
