/**
 * Secrets and settings that only some processes read. Every process reads all other settings.
 *
 * A process neither requires nor can read settings of other processes. So an attacker who controls
 * a webhooks worker gets no session key. A test compares docs/reference/secrets.md with this table.
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

/** Settings that encrypt API keys, webhook secrets and secrets of providers. */
const encryptionSettings = ['ENCRYPTION_KEY', 'ENCRYPTION_KEYS'] as const;

export const settingsOfProcesses: Record<string, readonly OwnSetting[]> = {
  release: [],
  web: [...encryptionSettings, 'SESSION_SECRET', 'PAYMENT_NOTIFY_SECRET', 'BASE_URL', 'WEBHOOK_PROXY_URL'],
  fulfilment: encryptionSettings,
  // The follow-up process closes and verifies the ledger, and sends alarms.
  'follow-up': [...encryptionSettings, 'LEDGER_CLOSE_KEY', 'WEBHOOK_PROXY_URL', 'ALERT_WEBHOOK_URL'],
  webhooks: [...encryptionSettings, 'WEBHOOK_PROXY_URL'],
  sellers: [],
  settlements: ['PAYOUT_MODE'],
  inquiries: encryptionSettings,
  reports: [],
  // The CLI signs closed days (`ledger close`), checks notifications and the proxy (`doctor`), and
  // calls the alarm receiver (`alarm test`) and prints the callback URL (`provider connect`).
  topup: [
    ...encryptionSettings,
    ...([
      'LEDGER_CLOSE_KEY',
      'PAYMENT_NOTIFY_SECRET',
      'BASE_URL',
      'WEBHOOK_PROXY_URL',
      'ALERT_WEBHOOK_URL',
    ] as const),
  ],
};

/**
 * Returns the process types of the started program. Null for the seed, the sandbox's products,
 * tests and benchmarks, which read all settings.
 */
export function getProcessTypes(argv: readonly string[]): string[] | null {
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
  return /\/workers\/run\.[jt]s$/.test(program) ? workers.flatMap(expandAll) : null;
}

/** Returns the settings of `ownSettings` that none of these processes reads. */
export function getForeignSettings(processes: string[] | null): OwnSetting[] {
  const read = processes?.flatMap((name) => settingsOfProcesses[name] ?? []);
  return read ? ownSettings.filter((setting) => !read.includes(setting)) : [];
}

const nonWorkers = ['release', 'web', 'topup'];

function expandAll(name: string): string[] {
  return name === 'all'
    ? Object.keys(settingsOfProcesses).filter((each) => !nonWorkers.includes(each))
    : [name];
}
