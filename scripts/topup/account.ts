import { Option, type Command } from 'commander';
import type { Account } from '../../src/accounts/account.model.js';
import type { AccountDescription, ListedAccount } from '../../src/accounts/list-accounts.js';
import type { ListedEndpoint } from '../../src/webhooks/endpoints/endpoint-status.js';
import { redactUrlSecrets } from '../../src/shared/mask.js';
import { registerAccountSet } from './account-set.js';
import { defineCommand, defineGroup } from './define-command.js';
import { facts, formatHeading, listText, rupiah, status, table, time, type ListFormat } from './format.js';
import { defineOperationCommand } from './operation-command.js';
import {
  httpUrl,
  limitOption,
  priceGroup,
  optionalReasonOption,
  reasonOption,
  secretFromStdin,
  wholeNumber,
} from './options.js';
import { UsageError } from './usage-error.js';

/** `topup account …` and `topup key …`: accounts and their API keys. */
export function registerAccount(program: Command): void {
  const account = defineGroup(program, 'account', 'Create, list, suspend buyers and sellers');
  registerCreate(account);
  registerList(account);
  registerShow(account);
  registerStatus(account, 'suspended');
  registerStatus(account, 'active');
  registerAccountSet(account);
  const key = defineGroup(program, 'key', 'API keys of accounts');
  registerRotate(key);
  registerRevoke(key);
}

interface CreateOptions {
  role: 'buyer' | 'seller';
  webhookUrl?: string;
  callbackUrl?: string;
  provider?: 'simulator' | 'h2h' | 'digiflazz' | 'iak';
  providerUrl?: string;
  providerUsername?: string;
  providerSecretStdin?: boolean;
}

function registerCreate(account: Command): void {
  defineCommand<CreateOptions>(account, {
    usage: 'create <username>',
    action: 'account.create',
    summary: 'Create an account with its wallet and its first API key',
    details:
      'The API key and the webhook secret are printed only once. The account can read them again through the API.\nBuyers buy. Sellers sell through the provider that you name.',
    examples: [
      'account create warung-sari --role buyer --webhook-url https://warung.example/hooks',
      'account create grosir --role seller --provider h2h --provider-url https://pulsa.example/api/reseller \\\n      --provider-username our-name --provider-secret-stdin < secret.txt',
    ],
    options: [
      new Option('--role <role>', 'kind of account').choices(['buyer', 'seller']).makeOptionMandatory(),
      new Option('--webhook-url <url>', 'URL for its events').argParser(httpUrl),
      new Option('--callback-url <url>', 'URL for its callbacks').argParser(httpUrl),
      new Option('--provider <kind>', 'sellers: the system that fulfils its sales').choices([
        'simulator',
        'h2h',
        'digiflazz',
        'iak',
      ]),
      new Option('--provider-url <url>', 'sellers: address of that system').argParser(httpUrl),
      new Option('--provider-username <name>', 'sellers: our username there (default: the username)'),
      new Option('--provider-secret-stdin', 'sellers: read our secret for the provider from standard input'),
    ],
    async run({ arg, options, by }) {
      const username = arg('username');
      if (!/^[a-z0-9._-]{3,40}$/.test(username)) {
        throw new UsageError('A username has 3 to 40 characters: a-z, 0-9, dot, dash and underscore.');
      }
      const provider = await providerOf(username, options);
      const { createAccount } = await import('../../src/accounts/create-account.js');
      const created = await createAccount(
        {
          username,
          role: options.role,
          webhookUrl: options.webhookUrl ?? null,
          callbackUrl: options.callbackUrl ?? null,
          ...(provider && { provider }),
        },
        by,
      );
      const data = {
        id: created.account._id,
        username,
        role: options.role,
        api_key: created.apiKey,
        webhook_secret: created.webhookSecret,
      };
      return {
        data,
        text: facts([
          ['username', username],
          ['role', options.role],
          ['id', data.id],
          ['api key', data.api_key],
          ['webhook secret', data.webhook_secret],
        ]),
      };
    },
  });
}

async function providerOf(username: string, options: CreateOptions) {
  if (!options.provider) {
    return null;
  }
  if (options.role !== 'seller') {
    throw new UsageError('Only a seller has a provider.');
  }
  if (options.provider === 'h2h' && !options.providerUrl) {
    throw new UsageError('An h2h provider needs --provider-url.');
  }
  const secret = options.providerSecretStdin ? await secretFromStdin() : '';
  if (secret === '') {
    throw new UsageError('Give our secret for the provider: --provider-secret-stdin < file');
  }
  return {
    kind: options.provider,
    baseUrl: options.providerUrl ?? null,
    username: options.providerUsername ?? username,
    secret,
  };
}

interface ListOptions {
  role?: Account['role'];
  status?: Account['status'];
  group?: string;
  after?: string;
  limit: number;
}

function registerList(account: Command): void {
  defineCommand<ListOptions>(account, {
    usage: 'list',
    action: 'account.look',
    summary: 'List accounts with their balances',
    examples: ['account list', 'account list --role seller --json', 'account list --after warung-sari'],
    options: [
      new Option('--role <role>', 'only accounts with this role').choices(['buyer', 'seller']),
      new Option('--status <status>', 'only accounts with this status').choices(['active', 'suspended']),
      new Option('--group <name>', 'only accounts in this price group').argParser(priceGroup),
      new Option('--after <username>', 'start after this username, for the next page'),
      limitOption(),
    ],
    async run({ options: { group, ...filter } }) {
      const { listAccounts } = await import('../../src/accounts/list-accounts.js');
      const found = await listAccounts({ ...filter, ...(group !== undefined && { priceGroup: group }) });
      const data = found.map(presentListed);
      const next = found.length === filter.limit ? (data.at(-1)?.username ?? null) : null;
      return { data, text: listText(data, { ...listFormat, next }) };
    },
  });
}

const listFormat: ListFormat<ReturnType<typeof presentListed>> = {
  columns: [
    'username',
    'role',
    'status',
    'balance',
    ['held', ({ held }) => held || ''],
    ['md5 signs', ({ md5_signs_30_days: signs }) => (signs === null ? '?' : String(signs || ''))],
    'created_at',
    'id',
  ],
  empty: 'No account matches. Create one: npm run topup -- account create <username> --role buyer',
};

function presentListed({ account, balance, held, md5Signs }: ListedAccount) {
  return {
    id: account._id,
    username: account.username,
    role: account.role,
    status: account.status,
    mode: account.mode,
    balance,
    held,
    md5_signs_30_days: md5Signs,
    created_at: account.createdAt,
  };
}

function registerShow(group: Command): void {
  defineCommand(group, {
    usage: 'show <username>',
    action: 'account.look',
    summary: 'Show one account: money, settings, keys, last changes',
    details: 'Takes the username or the id. Keys and secrets are not shown.',
    examples: ['account show warung-sari'],
    async run({ arg }) {
      const [{ describeAccount }, { listEndpoints }] = await Promise.all([
        import('../../src/accounts/list-accounts.js'),
        import('../../src/webhooks/endpoints/endpoint-status.js'),
      ]);
      const found = await describeAccount(arg('username'));
      const endpoints = (await listEndpoints(found.account)).map(presentEndpoint);
      const { account, wallet, keys, audit, md5Signs } = found;
      const data = {
        ...presentListed({ account, balance: wallet.balance, held: wallet.held, md5Signs }),
        webhook_url: account.webhookUrl && redactUrlSecrets(account.webhookUrl),
        webhook_status: account.webhookStatus,
        webhook_endpoints: endpoints,
        callback_url: account.callbackUrl && redactUrlSecrets(account.callbackUrl),
        ip_whitelist: account.ipWhitelist,
        rate_limit: account.rateLimit,
        rate_limit_max: account.rateLimitMax ?? null,
        language: account.language ?? 'en',
        ...(account.role === 'buyer' && { group: account.priceGroup ?? null }),
        require_strong_sign: account.requireStrongSign,
        require_ack: account.requireAck,
        ...(account.role === 'seller' && {
          commission_rate: account.commissionRate,
          product_limit: account.productLimit ?? null,
        }),
        provider: account.provider && { kind: account.provider.kind, base_url: account.provider.baseUrl },
        keys: keys.map((key) => ({ id: key._id, created_at: key.createdAt, valid_until: key.validUntil })),
        audit,
      };
      return { data, text: describeText({ ...found, endpoints }) };
    },
  });
}

/** Omits the endpoint's secret and the secrets in its URL. */
function presentEndpoint({ endpoint, health }: ListedEndpoint) {
  return {
    id: endpoint.id,
    url: redactUrlSecrets(endpoint.url),
    events: endpoint.events,
    description: endpoint.description,
    status: health.status,
    since: health.since?.toISOString() ?? null,
    reason: health.reason,
  };
}

function formatEndpoints(endpoints: ReturnType<typeof presentEndpoint>[]): string {
  return table(
    ['webhook endpoint', 'url', 'events', 'status', 'since'],
    endpoints.map((each) => [
      each.id,
      each.url,
      each.events.join(', '),
      each.reason === null ? status(each.status) : `${status(each.status)} (${each.reason})`,
      each.since ?? '',
    ]),
  );
}

function describeText({
  account,
  wallet,
  keys,
  audit,
  md5Signs,
  endpoints,
}: AccountDescription & { endpoints: ReturnType<typeof presentEndpoint>[] }): string {
  const settings = facts([
    ['username', account.username],
    ['id', account._id],
    ['role', account.role],
    ['status', status(account.status)],
    ['balance', rupiah(wallet.balance)],
    ['held', wallet.held === 0 ? null : rupiah(wallet.held)],
    [
      'webhook',
      account.webhookUrl
        ? `${redactUrlSecrets(account.webhookUrl)} (${status(account.webhookStatus)})`
        : 'none',
    ],
    ['callback', account.callbackUrl ? redactUrlSecrets(account.callbackUrl) : 'none'],
    ['addresses', account.ipWhitelist.join(', ') || 'any'],
    ...operatorSettings(account),
    ['signs by md5', account.role === 'buyer' ? `${md5Signs ?? 'unknown'} in 30 days` : null],
    ['provider', account.provider && `${account.provider.kind} ${account.provider.baseUrl ?? ''}`.trim()],
    ['created', time(account.createdAt)],
  ]);
  const keyRows = keys.map((key) => [
    key._id,
    time(key.createdAt),
    key.validUntil ? time(key.validUntil) : 'current',
  ]);
  const auditRows = audit.map((each) => [time(each.at), each.actor, each.action, each.reason ?? '']);
  return [
    settings,
    ...(endpoints.length > 1 ? [formatHeading('webhook endpoints'), formatEndpoints(endpoints)] : []),
    formatHeading('API keys'),
    table(['id', 'created', 'valid until'], keyRows),
    formatHeading('Last changes'),
    auditRows.length === 0 ? 'none' : table(['at', 'by', 'what', 'why'], auditRows),
  ].join('\n');
}

/** Returns the settings of `topup account set`. */
function operatorSettings(account: Account): [string, string | null][] {
  const isSeller = account.role === 'seller';
  const most = account.rateLimitMax ?? null;
  return [
    ['rate limit', `${account.rateLimit} a minute${most === null ? '' : `, at most ${most}`}`],
    ['language', account.language ?? 'en'],
    ['price group', account.priceGroup ?? null],
    ['strong sign', isSeller ? null : account.requireStrongSign ? 'HMAC only' : 'HMAC or md5'],
    ['acknowledgement', account.requireAck ? 'required' : 'not required'],
    ['commission', isSeller ? String(account.commissionRate ?? 'default') : null],
    ['product limit', isSeller ? String(account.productLimit ?? 'default') : null],
  ];
}

function registerStatus(account: Command, to: Account['status']): void {
  const verb = to === 'suspended' ? 'suspend' : 'resume';
  defineOperationCommand(account, {
    usage: `${verb} <username>`,
    action: 'account.suspend',
    summary: to === 'suspended' ? 'Refuse every call of an account' : 'Resume a suspended account',
    details:
      to === 'suspended'
        ? 'Takes effect with the next call. Accepted purchases are still completed; the balance stays.'
        : 'Takes effect with the next call.',
    examples: [`account ${verb} warung-sari --reason "chargeback, ticket 812"`],
    options: [reasonOption()],
    async operation() {
      const { resumeAccount, suspendAccount } = await import('../../src/console/accounts/change-account.js');
      return to === 'suspended' ? suspendAccount : resumeAccount;
    },
    output: ({ changed }, { arg }) => ({
      data: { username: arg('username'), status: to, changed },
      text: `${arg('username')} ${changed ? 'is now' : 'was already'} ${status(to)}.`,
    }),
  });
}

function registerRotate(key: Command): void {
  defineCommand<{ overlap: number }>(key, {
    usage: 'rotate <username>',
    action: 'account.key',
    summary: 'Give an account a new API key',
    details:
      'The old key stays valid for the overlap, so that the account can switch without an outage.\nAfter a leak use --overlap 0: the old key is refused from the next call on, and download links\nof reports that were made with it are revoked.',
    examples: ['key rotate warung-sari', 'key rotate warung-sari --overlap 0 --reason "key leaked"'],
    options: [
      new Option('--overlap <minutes>', 'how long the old key stays valid')
        .default(60)
        .argParser(wholeNumber(0, 1_440)),
      optionalReasonOption(),
    ],
    async run({ arg, options, by }) {
      const [{ requireAccount }, { rotateApiKey }] = await Promise.all([
        import('../../src/accounts/find-account.js'),
        import('../../src/accounts/changes/change-api-keys.js'),
      ]);
      const found = await requireAccount(arg('username'));
      const rotated = await rotateApiKey(found, options.overlap, { ...by, keyId: null });
      return {
        data: {
          username: found.username,
          api_key: rotated.apiKey,
          previous_valid_until: rotated.previousValidUntil,
        },
        text: facts([
          ['username', found.username],
          ['new api key', rotated.apiKey],
          ['old key until', time(rotated.previousValidUntil)],
        ]),
      };
    },
  });
}

function registerRevoke(key: Command): void {
  defineOperationCommand(key, {
    usage: 'revoke <username> <key_id>',
    action: 'account.key',
    summary: 'Revoke an API key at once, without a replacement',
    details:
      'The key is refused from the next call on, and download links of reports are revoked. topup account show lists key ids.\nAn account without a current key cannot call the API until you run topup key rotate. Repeating it changes nothing.',
    examples: ['key revoke warung-sari 01a1fde5d07770f0be10a241618d0695 --reason "key leaked"'],
    options: [reasonOption()],
    operation: async () => (await import('../../src/console/accounts/api-keys.js')).revokeKey,
    output: ({ changed, was_current }, { arg }) => ({
      data: { username: arg('username'), key_id: arg('key_id'), changed, was_current },
      text: !changed
        ? 'Nothing changed: the key is already revoked or expired.'
        : was_current
          ? `Revoked. ${arg('username')} has no current key now. Create one: topup key rotate`
          : 'Revoked.',
    }),
  });
}
