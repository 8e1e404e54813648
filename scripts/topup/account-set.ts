import { InvalidArgumentError, Option, type Command } from 'commander';
import { limits } from '../../config/limits.js';
import type { OperatorSettings } from '../../src/accounts/changes/set-account.js';
import { languages } from '../../src/shared/messages.js';
import { defineCommand, defineGroup, type CommandCall } from './define-command.js';
import { defineOperationCommand } from './operation-command.js';
import { reasonOption, wholeNumber } from './options.js';
import { UsageError } from './usage-error.js';

interface SetOptions extends Omit<OperatorSettings, 'commissionRate' | 'rateLimitMax' | 'productLimit'> {
  /** Null for the word `default`. */
  commissionRate?: number | null;
  rateLimitMax?: number | null;
  productLimit?: number | null;
}

/** Option names, equal to the names of the settings. */
const settingNames = [
  'requireStrongSign',
  'requireAck',
  'commissionRate',
  'rateLimit',
  'rateLimitMax',
  'productLimit',
  'language',
] as const satisfies (keyof OperatorSettings)[];

/**
 * `topup account set`, `topup account group` and `topup account allowlist clear`: settings that the
 * operator decides.
 */
export function registerAccountSet(account: Command): void {
  defineCommand<SetOptions>(account, {
    usage: 'set <username>',
    action: 'account.set',
    summary: 'Set what you alone decide of an account',
    details:
      'Holds for the next call in every process. What you leave out stays as it is. Orders keep the commission\nrate that they were made with. Who still signs by md5: account list, account show.',
    examples: [
      'account set warung-sari --require-strong-sign on --reason "moved to HMAC on 3 March"',
      'account set grosir --commission-rate 0.015 --product-limit 500 --reason "contract 12"',
      'account set warung-sari --rate-limit-max 60 --reason "polls every second"',
    ],
    options: settingOptions(),
    async run({ arg, options, by }) {
      const settings: OperatorSettings = Object.fromEntries(
        settingNames.map((name) => [name, options[name]] as const).filter(([, value]) => value !== undefined),
      );
      if (Object.keys(settings).length === 0) {
        throw new UsageError('Say what to set: topup account set --help');
      }
      const [{ requireAccount }, { setAccount }] = await Promise.all([
        import('../../src/accounts/find-account.js'),
        import('../../src/accounts/changes/set-account.js'),
      ]);
      const { _id, username } = await requireAccount(arg('username'));
      const { changed } = await setAccount(_id, settings, by);
      const words = changed.map((name) => `${name} = ${String(settings[name] ?? 'default')}`);
      return {
        data: { username, changed, settings },
        text: changed.length === 0 ? `${username} had that already.` : `${username}: ${words.join(', ')}`,
      };
    },
  });
  registerPriceGroup(account);
  registerRevokeLinks(account);
  registerAllowlist(defineGroup(account, 'allowlist', 'Which addresses an account may call from'));
}

function settingOptions(): Option[] {
  return [
    onOff('--require-strong-sign <on|off>', 'refuse the md5 sign, take HMAC alone'),
    onOff(
      '--require-ack <on|off>',
      'a webhook counts as delivered only if answered with {"status":"received"}',
    ),
    new Option('--commission-rate <fraction>', 'sellers: 0 to 1, or default (COMMISSION_RATE)').argParser(
      fraction,
    ),
    new Option('--rate-limit <n>', 'calls in a minute').argParser(wholeNumber(1, limits.rateLimitMax)),
    new Option('--rate-limit-max <n>', 'the most that it may choose itself, or default').argParser(
      orDefault(wholeNumber(1, limits.rateLimitMax)),
    ),
    new Option('--product-limit <n>', 'sellers: the most products that it may sell, or default').argParser(
      orDefault(wholeNumber(1, limits.productsPerSellerMax)),
    ),
    new Option('--language <language>', 'of the messages that its reseller software gets').choices(languages),
    reasonOption(),
  ];
}

function registerPriceGroup(account: Command): void {
  defineOperationCommand(account, {
    usage: 'group <username> [name]',
    action: 'markup.set',
    summary: 'Put a buyer into a price group, whose markups stand for it, or take it out',
    details:
      'A buyer is in one group at most, and sees nothing of it but its prices. Holds for the next call in every process; what was accepted or answered keeps its price. Groups and their rules: topup markup.',
    examples: [
      'account group warung-sari grosir --reason "sells more than 100 million a month"',
      'account group warung-sari --none --reason "contract ended"',
    ],
    options: [new Option('--none', 'out of the group that it is in'), reasonOption()],
    operation: async () => (await import('../../src/console/accounts/change-account.js')).setPriceGroup,
    input({ fields, options: { none } }: CommandCall<{ none?: boolean }>) {
      if ((fields['name'] === undefined) === (none === undefined)) {
        throw new UsageError('Say one of: the name of a group, --none.');
      }
      return { name: undefined, none: undefined, group: fields['name'] ?? null };
    },
    output({ changed }, { arg }) {
      const [username, group] = [arg('username'), arg('name') || null];
      const where = group === null ? 'in no group' : `in the group ${group}`;
      return {
        data: { username, group, changed },
        text: `${username} ${changed ? 'is now' : 'was already'} ${where}.`,
      };
    },
  });
}

function registerRevokeLinks(account: Command): void {
  defineCommand<{ report?: string }>(account, {
    usage: 'revoke-links <username>',
    action: 'account.revoke-links',
    summary: "End the download links of an account's reports",
    details:
      'Of all of them, or of one. The reports stay, and asking for one gives a new link. key rotate --overlap 0 does\nthis too.',
    examples: [
      'account revoke-links warung-sari --reason "links were posted in a group"',
      'account revoke-links warung-sari --report 0192f0c1a2b3 --reason "ticket 812"',
    ],
    options: [new Option('--report <id>', 'the links of this report alone'), reasonOption()],
    async run({ arg, options: { report }, by }) {
      const [{ requireAccount }, { revokeAccountLinks, revokeReportLinks }] = await Promise.all([
        import('../../src/accounts/find-account.js'),
        import('../../src/reports/download-links.js'),
      ]);
      const { _id, username } = await requireAccount(arg('username'));
      await (report === undefined ? revokeAccountLinks(_id, by) : revokeReportLinks(_id, report, by));
      return {
        data: { username, report: report ?? null },
        text: `The download links of ${report === undefined ? 'all reports' : `report ${report}`} of ${username} are revoked.`,
      };
    },
  });
}

function registerAllowlist(allowlist: Command): void {
  defineCommand(allowlist, {
    usage: 'clear <username>',
    action: 'account.clear-allowlist',
    summary: 'Let an account be used from any address again',
    details:
      'For an owner whom a wrong allowlist, or an intruder’s, keeps out. After an intruder, first: topup key rotate\n<username> --overlap 0. The webhook URL is told, and settlements wait for your approval for a day.',
    examples: ['account allowlist clear warung-sari --reason "owner called back on the number we have"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const [{ requireAccount }, { updateConfig }] = await Promise.all([
        import('../../src/accounts/find-account.js'),
        import('../../src/accounts/changes/update-config.js'),
      ]);
      const { _id, username, ipWhitelist } = await requireAccount(arg('username'));
      await updateConfig(_id, { ipWhitelist: [] }, { ...by, keyId: null });
      return {
        data: { username, cleared: ipWhitelist },
        text: ipWhitelist.length === 0 ? `${username} had none.` : `Cleared: ${ipWhitelist.join(', ')}`,
      };
    },
  });
}

function onOff(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value) => {
    if (value !== 'on' && value !== 'off') {
      throw new InvalidArgumentError('It must be on or off.');
    }
    return value === 'on';
  });
}

function fraction(value: string): number | null {
  if (value === 'default') {
    return null;
  }
  if (!/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/.test(value)) {
    throw new InvalidArgumentError('It must be a fraction from 0 to 1 such as 0.015, or default.');
  }
  return Number(value);
}

function orDefault(read: (value: string) => number): (value: string) => number | null {
  return (value) => (value === 'default' ? null : read(value));
}
