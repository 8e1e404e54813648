import { InvalidArgumentError, Option, type Command } from 'commander';
import { limits } from '../../config/limits.js';
import type { OperatorSettings } from '../../src/accounts/changes/set-account.js';
import { languages } from '../../src/shared/messages.js';
import { defineCommand, defineGroup, type CommandCall } from './define-command.js';
import { defineOperationCommand } from './operation-command.js';
import { reasonOption, wholeNumber } from './options.js';
import { UsageError } from './usage-error.js';

interface SetOptions extends Omit<OperatorSettings, 'commissionRate' | 'rateLimitMax' | 'productLimit'> {
  /** Null for the argument `default`. */
  commissionRate?: number | null;
  rateLimitMax?: number | null;
  productLimit?: number | null;
}

/** Names of the options, which equal the names of the settings. */
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
 * `topup account set`, `topup account group` and `topup account allowlist clear`: settings that
 * only operators can change.
 */
export function registerAccountSet(account: Command): void {
  defineCommand<SetOptions>(account, {
    usage: 'set <username>',
    action: 'account.set',
    summary: 'Change the account settings that only operators may change',
    details:
      'Takes effect with the next call in every process. Omitted settings keep their values. Orders keep the commission\nrate that they were made with. account list and account show count md5 signs.',
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
        throw new UsageError('Name at least one setting: topup account set --help');
      }
      const [{ requireAccount }, { setOperatorSettings }] = await Promise.all([
        import('../../src/accounts/find-account.js'),
        import('../../src/accounts/changes/set-account.js'),
      ]);
      const { _id, username } = await requireAccount(arg('username'));
      const { changed } = await setOperatorSettings(_id, settings, by);
      const words = changed.map((name) => `${name} = ${String(settings[name] ?? 'default')}`);
      return {
        data: { username, changed, settings },
        text: changed.length === 0 ? `Nothing changed for ${username}.` : `${username}: ${words.join(', ')}`,
      };
    },
  });
  registerPriceGroup(account);
  registerRevokeLinks(account);
  registerAllowlist(defineGroup(account, 'allowlist', 'IP addresses from which an account may call'));
}

function settingOptions(): Option[] {
  return [
    onOff('--require-strong-sign <on|off>', 'refuse the md5 sign and accept only HMAC'),
    onOff(
      '--require-ack <on|off>',
      'a webhook counts as delivered only if the response is {"status":"received"}',
    ),
    new Option('--commission-rate <fraction>', 'sellers: 0 to 1, or default (COMMISSION_RATE)').argParser(
      fraction,
    ),
    new Option('--rate-limit <n>', 'calls per minute').argParser(wholeNumber(1, limits.rateLimitMax)),
    new Option('--rate-limit-max <n>', 'highest limit that the account may choose, or default').argParser(
      allowDefault(wholeNumber(1, limits.rateLimitMax)),
    ),
    new Option('--product-limit <n>', 'sellers: most products that it may sell, or default').argParser(
      allowDefault(wholeNumber(1, limits.productsPerSellerMax)),
    ),
    new Option('--language <language>', 'language of messages to its reseller software').choices(languages),
    reasonOption(),
  ];
}

function registerPriceGroup(account: Command): void {
  defineOperationCommand(account, {
    usage: 'group <username> [name]',
    action: 'markup.set',
    summary: 'Put a buyer into a price group, whose markups then apply to it, or remove it',
    details:
      'A buyer is in at most one group and sees only its prices. Takes effect with the next call in every process. Accepted purchases and completed inquiries keep their price. topup markup lists groups and their rules.',
    examples: [
      'account group warung-sari grosir --reason "sells more than 100 million a month"',
      'account group warung-sari --none --reason "contract ended"',
    ],
    options: [new Option('--none', 'remove the buyer from its group'), reasonOption()],
    operation: async () => (await import('../../src/console/accounts/change-account.js')).setPriceGroup,
    input({ fields, options: { none } }: CommandCall<{ none?: boolean }>) {
      if ((fields['name'] === undefined) === (none === undefined)) {
        throw new UsageError('Give either the name of a group or --none.');
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
    summary: "Revoke the download links of an account's reports",
    details:
      'Revokes the links of all reports, or of one. The reports remain, and requesting one gives a new link. key rotate\n--overlap 0 also does this.',
    examples: [
      'account revoke-links warung-sari --reason "links were posted in a group"',
      'account revoke-links warung-sari --report 0192f0c1a2b3 --reason "ticket 812"',
    ],
    options: [new Option('--report <id>', 'only the links of this report'), reasonOption()],
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
    summary: 'Clear the IP allowlist of an account',
    details:
      'For an owner who is locked out by a wrong allowlist or by an intruder. After an intrusion, first run topup key rotate\n<username> --overlap 0. The webhook URL is notified, and settlements need your approval for a day.',
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
        text: ipWhitelist.length === 0 ? `${username}: no allowlist.` : `Cleared: ${ipWhitelist.join(', ')}`,
      };
    },
  });
}

function onOff(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value) => {
    if (value !== 'on' && value !== 'off') {
      throw new InvalidArgumentError('The value must be on or off.');
    }
    return value === 'on';
  });
}

function fraction(value: string): number | null {
  if (value === 'default') {
    return null;
  }
  if (!/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/.test(value)) {
    throw new InvalidArgumentError('The value must be a fraction from 0 to 1 such as 0.015, or default.');
  }
  return Number(value);
}

function allowDefault(read: (value: string) => number): (value: string) => number | null {
  return (value) => (value === 'default' ? null : read(value));
}
