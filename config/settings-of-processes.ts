/**
 * Which process reads which secret, and the few other settings that only some are asked for. What is not named here every
 * process reads. A process neither demands nor can read what is not its own: a webhooks worker that somebody has broken
 * into holds no key of sessions. docs/reference/secrets.md shows this table; a test compares them.
 */
import type { Env } from './settings.js';

export const ownSettings = [
  'ENCRYPTION_KEY',
  'ENCRYPTION_KEYS',
  'SESSION_SECRET',
  'PAYMENT_NOTIFY_SECRET',
  'LEDGER_CLOSE_KEY',
  'BASE_URL',
  'PAYOUT_MODE',
  'WEBHOOK_PROXY_URL',
  'ALERT_WEBHOOK_URL',
] as const satisfies (keyof Env)[];

export type OwnSetting = (typeof ownSettings)[number];

/** API keys, webhook secrets and secrets of providers are opened with one of these. */
const encryption = ['ENCRYPTION_KEY', 'ENCRYPTION_KEYS'] as const;

export const settingsOfProcesses: Record<string, readonly OwnSetting[]> = {
  release: [],
  web: [...encryption, 'SESSION_SECRET', 'PAYMENT_NOTIFY_SECRET', 'BASE_URL', 'WEBHOOK_PROXY_URL'],
  fulfilment: encryption,
  // It closes and verifies the ledger, and sends alarms.
  'follow-up': [...encryption, 'LEDGER_CLOSE_KEY', 'WEBHOOK_PROXY_URL', 'ALERT_WEBHOOK_URL'],
  webhooks: [...encryption, 'WEBHOOK_PROXY_URL'],
  sellers: [],
  settlements: ['PAYOUT_MODE'],
  inquiries: encryption,
  reports: [],
  // `ledger close` signs, `doctor` says whether notifications are on and the proxy serves, and `alarm test` tries the
  // receiver.
  topup: [
    ...encryption,
    ...(['LEDGER_CLOSE_KEY', 'PAYMENT_NOTIFY_SECRET', 'WEBHOOK_PROXY_URL', 'ALERT_WEBHOOK_URL'] as const),
  ],
};

/**
 * The process types that this process is, by the program that was started; null for the seed, tests and benchmarks, which
 * read everything.
 */
export function processesOf(argv: readonly string[]): string[] | null {
  const program = (argv[1] ?? '').replaceAll('\\', '/');
  if (/\/src\/server\.[jt]s$/.test(program)) {
    return ['web'];
  }
  if (/\/scripts\/migrate\.[jt]s$/.test(program)) {
    return ['release'];
  }
  if (/\/scripts\/topup\.m?[jt]s$/.test(program)) {
    return ['topup'];
  }
  const workers = argv.slice(2);
  return /\/workers\/run\.[jt]s$/.test(program) ? workers.flatMap(withAll) : null;
}

/** The settings of `ownSettings` that none of these processes reads. */
export function settingsNotOf(processes: string[] | null): OwnSetting[] {
  const read = processes?.flatMap((name) => settingsOfProcesses[name] ?? []);
  return read ? ownSettings.filter((setting) => !read.includes(setting)) : [];
}

const notWorkers = ['release', 'web', 'topup'];

function withAll(name: string): string[] {
  return name === 'all'
    ? Object.keys(settingsOfProcesses).filter((each) => !notWorkers.includes(each))
    : [name];
}
