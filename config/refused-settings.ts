/**
 * Settings that are refused with NODE_ENV=production or APP_MODE=live. Process start, `topup
 * doctor` and docs/reference/refused-settings.md use this list. A test compares that page with the
 * list.
 */
import { developmentKey, developmentSecret, decodeKey, readKeyring } from './keyring.js';
import type { Env, GivenEnv } from './settings.js';

export interface RefusedSetting {
  setting: keyof Env;
  /** The refused value, as the documentation shows it. */
  value: string;
  why: string;
  instead: string;
  /** Name of the risk in ACCEPTED_RISKS. Null if the risk cannot be accepted. */
  acceptedAs: string | null;
  isSo(env: GivenEnv): boolean;
}

export const refusedSettings: RefusedSetting[] = [
  {
    setting: 'ENCRYPTION_KEY',
    value: 'not set, and no `ENCRYPTION_KEYS`',
    why: 'API keys and secrets are stored encrypted with it',
    instead: '`openssl rand -base64 32`',
    acceptedAs: null,
    isSo: (env) => env.ENCRYPTION_KEY === null && env.ENCRYPTION_KEYS === null,
  },
  {
    setting: 'ENCRYPTION_KEY',
    value: 'the development key, also in `ENCRYPTION_KEYS`',
    why: 'it is public',
    instead: '`openssl rand -base64 32`',
    acceptedAs: null,
    isSo: (env) => readKeyring(env).some(({ key }) => key.equals(decodeKey(developmentKey))),
  },
  {
    setting: 'ENCRYPTION_KEY',
    value: 'one byte repeated, also in `ENCRYPTION_KEYS`',
    why: 'an attacker tries it first',
    instead: '`openssl rand -base64 32`',
    acceptedAs: null,
    isSo: (env) => readKeyring(env).some(({ key }) => isRepeated(key)),
  },
  {
    setting: 'SESSION_SECRET',
    value: 'not set, or shorter than 32 characters',
    why: 'it signs sessions of the console and access tokens',
    instead: '`openssl rand -base64 48`',
    acceptedAs: null,
    isSo: (env) => (env.SESSION_SECRET ?? '').length < 32,
  },
  {
    setting: 'SESSION_SECRET',
    value: 'the development secret, or one character repeated',
    why: 'anyone can guess it',
    instead: '`openssl rand -base64 48`',
    acceptedAs: null,
    isSo: (env) =>
      env.SESSION_SECRET === developmentSecret || isRepeated(Buffer.from(env.SESSION_SECRET ?? '')),
  },
  {
    setting: 'PAYMENT_NOTIFY_SECRET',
    value: 'one character repeated',
    why: 'anyone who guesses it can credit deposits',
    instead: '`openssl rand -base64 48`',
    acceptedAs: null,
    isSo: (env) => isRepeated(Buffer.from(env.PAYMENT_NOTIFY_SECRET ?? '')),
  },
  {
    setting: 'PAYOUT_MODE',
    value: 'not set',
    why: 'the service must not guess how settlements are paid',
    instead: '`manual`',
    acceptedAs: null,
    isSo: (env) => env.PAYOUT_MODE === null,
  },
  {
    setting: 'PAYOUT_MODE',
    value: '`simulated`',
    why: 'settlements would be marked as paid without a payment',
    instead: '`manual`',
    acceptedAs: null,
    isSo: (env) => env.PAYOUT_MODE === 'simulated',
  },
  {
    setting: 'DEPOSIT_MODE',
    value: '`instant`',
    why: "a client's call would create money",
    instead: '`confirm`',
    acceptedAs: null,
    isSo: (env) => env.DEPOSIT_MODE === 'instant',
  },
  {
    setting: 'WEBHOOK_ALLOW_PRIVATE',
    value: '`true`',
    why: "clients' URLs could reach this private network",
    instead: '`false`',
    acceptedAs: null,
    isSo: (env) => env.WEBHOOK_ALLOW_PRIVATE,
  },
  {
    setting: 'APP_MODE',
    value: '`sandbox`',
    why: 'providers would be queried on the test schedule, and test keys accepted',
    instead: '`live`',
    acceptedAs: 'sandbox',
    isSo: (env) => env.APP_MODE === 'sandbox',
  },
  {
    setting: 'SIMULATOR_URL',
    value: 'set',
    why: 'sales of sellers on the simulator are not real',
    instead: 'unset it',
    acceptedAs: 'simulator',
    isSo: (env) => env.SIMULATOR_URL !== null,
  },
  {
    setting: 'BASE_URL',
    value: 'not set',
    why: 'links for clients would not work',
    instead: '`https://…`',
    acceptedAs: null,
    isSo: (env) => env.BASE_URL === null,
  },
  {
    setting: 'BASE_URL',
    value: '`http:`',
    why: 'keys and links would be sent unencrypted',
    instead: '`https://…`',
    acceptedAs: 'plain-http',
    isSo: (env) => /^http:/i.test(env.BASE_URL ?? ''),
  },
  {
    setting: 'MONGODB_URI',
    value: 'without user and password',
    why: 'anyone who reaches the database can read and change everything',
    instead: '`mongodb://user:password@…`, or an `authMechanism` without password',
    acceptedAs: 'open-mongodb',
    isSo: (env) =>
      !hasPassword(env.MONGODB_URI) &&
      !/[?&]authMechanism=(MONGODB-X509|MONGODB-AWS|MONGODB-OIDC|GSSAPI)\b/i.test(env.MONGODB_URI),
  },
  {
    setting: 'REDIS_URL',
    value: 'without password',
    why: 'anyone who reaches it can read sessions and add jobs',
    instead: '`redis://:password@…` or `rediss://:password@…`',
    acceptedAs: 'open-redis',
    isSo: (env) => !hasPassword(env.REDIS_URL),
  },
];

export const acceptableRisks = refusedSettings.flatMap(({ acceptedAs }) => acceptedAs ?? []);

/** True if this installation refuses dangerous settings. */
export function isGuarded(env: { NODE_ENV?: string; APP_MODE?: string }): boolean {
  return env.NODE_ENV === 'production' || env.APP_MODE === 'live';
}

function isRepeated(bytes: Buffer): boolean {
  return bytes.length > 0 && bytes.every((byte) => byte === bytes[0]);
}

/** True if the URL has a password: `scheme://user:password@…` or `scheme://:password@…`. */
function hasPassword(url: string): boolean {
  return /^[a-z+]+:\/\/[^@/?]*:[^@/?]+@/i.test(url);
}
