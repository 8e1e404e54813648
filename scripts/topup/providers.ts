import { InvalidArgumentError, Option, type Command } from 'commander';
import { limits } from '../../config/limits.js';
import type { ProviderChange, ProviderOverview } from '../../src/providers/manage-provider.js';
import { defineCommand, defineGroup, type CommandCall } from './define-command.js';
import { facts, listText, rupiah, status, table, time } from './format.js';
import { defineOperationCommand } from './operation-command.js';
import { httpUrl, reasonOption, secretFromStdin, wholeNumber } from './options.js';
import { registerProviderConnect, registerProviderTest } from './provider-connect.js';
import { registerProviderImport } from './provider-import.js';
import { registerReconcile } from './reconcile.js';
import { UsageError } from './usage-error.js';

/** `topup provider …` and `topup reconcile`: the systems that fulfil orders. */
export function registerProviders(program: Command): void {
  const group = defineGroup(program, 'provider', 'Systems that fulfil the sales of sellers');
  registerList(group);
  registerProviderConnect(group);
  registerProviderTest(group);
  registerSet(group);
  registerSteer(group, 'pause');
  registerSteer(group, 'resume');
  registerFloat(group);
  registerAccept(group);
  registerRoute(group);
  registerPrices(group);
  registerProviderImport(group);
  registerReconcile(program);
}

function registerList(group: Command): void {
  defineCommand(group, {
    usage: 'list',
    action: 'provider.look',
    summary: 'List sellers with their provider, circuit and float',
    details:
      'circuit  closed: it gets orders. open: it failed, it requested a pause, or it refuses our key.\n         half-open: one order at a time.\nfloat    our balance there as last reported; it gets no order that costs more.\nwaiting  orders in its queue, and how long a new one would wait.',
    examples: ['provider list', 'provider list --json'],
    async run() {
      const { listProviders } = await import('../../src/providers/manage-provider.js');
      const found = await listProviders();
      return {
        data: found.map(present),
        text:
          found.length === 0
            ? 'No seller has a provider.'
            : table(
                [
                  'seller',
                  'kind',
                  'circuit',
                  'success',
                  'mean',
                  'waiting',
                  'wait',
                  'float',
                  'told',
                  'paused',
                ],
                found.map(row),
                [3, 4, 5, 6, 7],
              ),
      };
    },
  });
}

function present({ seller, state, circuit, backlog }: ProviderOverview) {
  return {
    seller: seller.username,
    seller_id: seller._id,
    kind: seller.provider?.kind,
    base_url: seller.provider?.baseUrl ?? null,
    circuit: circuit?.state ?? null,
    success_rate: circuit?.successRate ?? null,
    mean_ms: circuit?.meanMs ?? null,
    pause_ms: circuit?.pauseMs ?? null,
    waiting: backlog?.waiting ?? null,
    expected_wait_ms: backlog?.expectedMs ?? null,
    float: state?.floatAmount ?? null,
    float_at: state?.floatAt ?? null,
    paused: state?.paused ?? null,
  };
}

function row({ seller, state, circuit, backlog }: ProviderOverview): string[] {
  return [
    seller.username,
    seller.provider?.kind ?? '',
    circuit ? status(circuit.state === 'closed' ? 'ok' : circuit.state) : '-',
    circuit ? `${Math.round(circuit.successRate * 100)} %` : '-',
    circuit ? `${Math.round(circuit.meanMs)} ms` : '-',
    backlog ? String(backlog.waiting) : '-',
    backlog ? `${Math.ceil(backlog.expectedMs / 1_000)} s` : '-',
    state?.floatAmount === null || state === null ? '-' : rupiah(state.floatAmount),
    time(state?.floatAt),
    state?.paused ? `${time(state.paused.at)} ${state.paused.by}: ${state.paused.reason}` : '',
  ];
}

/** The console operations identify a seller by its username. */
const buildSellerPath = ({ fields }: CommandCall<object>) => ({
  username: fields['seller'],
  seller: undefined,
});

function registerSteer(group: Command, verb: 'pause' | 'resume'): void {
  defineOperationCommand(group, {
    usage: `${verb} <seller>`,
    action: 'provider.steer',
    summary: verb === 'pause' ? 'Send no new orders to a seller' : 'Send orders to a seller again',
    details:
      verb === 'pause'
        ? 'Takes effect with the next order. Open orders are still queried. Other sellers continue to sell.'
        : 'Takes effect with the next order. It also closes the circuit and ends a pause that the provider requested.',
    examples: [`provider ${verb} grosir --reason "maintenance until 14:00, by mail"`],
    options: [reasonOption()],
    async operation() {
      const steer = await import('../../src/console/providers/control-provider.js');
      return verb === 'pause' ? steer.pauseProviderCall : steer.resumeProviderCall;
    },
    input: buildSellerPath,
    output: (_answer, { arg }) => ({
      data: { seller: arg('seller'), paused: verb === 'pause' },
      text: `${arg('seller')} is ${verb === 'pause' ? 'paused' : 'in service again'}.`,
    }),
  });
}

interface SetOptions {
  kind?: 'digiflazz' | 'h2h' | 'iak' | 'simulator';
  url?: string;
  username?: string;
  signWith?: 'hmac' | 'md5';
  callsPerSecond?: number;
  concurrency?: number;
  maxWait?: number;
  serialPlaceholder?: string[];
  secretStdin?: boolean;
  callbackSecretStdin?: boolean;
}

function registerSet(group: Command): void {
  defineCommand<SetOptions>(group, {
    usage: 'set <seller>',
    action: 'provider.set',
    summary: "Change the connection to a seller's provider",
    details:
      'Omitted settings keep their values. Takes effect with the next order.\n\n--kind gives a provider to a seller that has none. Another kind, address or username is another system: pause the provider first, and wait until no purchase of the seller is open.\n\nIf the provider is another installation of this service, it signs callbacks with the webhook secret of our\naccount there: give it with --callback-secret-stdin.',
    examples: [
      'provider set grosir --calls-per-second 10 --concurrency 20 --reason "their limit"',
      'provider set grosir --kind digiflazz --username our-name --secret-stdin --reason "first provider" < secret.txt',
      'provider set grosir --serial-placeholder "cek report" --reason "written before its serial numbers"',
      'provider set grosir --callback-secret-stdin --reason "callbacks" < secret.txt',
    ],
    options: [
      new Option('--kind <kind>', 'its protocol').choices(['digiflazz', 'h2h', 'iak', 'simulator']),
      new Option('--url <url>', 'its address').argParser(httpUrl),
      new Option('--username <name>', 'our username there'),
      new Option('--sign-with <how>', 'h2h: use md5 only for engines without HMAC').choices(['hmac', 'md5']),
      new Option('--calls-per-second <n>', 'calls per second of all workers together; 0: no limit').argParser(
        wholeNumber(0, 10_000),
      ),
      new Option('--concurrency <n>', 'concurrent calls of all workers together; 0: no limit').argParser(
        wholeNumber(0, 1_000),
      ),
      new Option(
        '--max-wait <seconds>',
        'how long an order may wait to be sent before it is refunded; 0: the default, 600, and a later order is still sent',
      ).argParser(wholeNumber(0, limits.maxWaitMaxS)),
      new Option(
        '--serial-placeholder <texts...>',
        'further texts that it writes where it has no serial number; "": none',
      ).argParser(placeholder),
      new Option('--secret-stdin', 'read our secret for the provider from standard input').conflicts(
        'callbackSecretStdin',
      ),
      new Option('--callback-secret-stdin', 'read the secret that signs its callbacks from standard input'),
      reasonOption(),
    ],
    async run({ arg, options, by }) {
      const [{ requireAccount }, { changeProvider }, { setConnection }] = await Promise.all([
        import('../../src/accounts/find-account.js'),
        import('../../src/providers/manage-provider.js'),
        import('../../src/purchases/fulfil/set-connection.js'),
      ]);
      const seller = await requireAccount(arg('seller'));
      const { kind, baseUrl, username, ...given } = await changeOf(options);
      const system = withoutUndefined({ kind, baseUrl, username });
      // The secret of another system is stored together with its address.
      const { secret, ...rest } = given;
      const isMoved = Object.keys(system).length > 0;
      const connection = { ...system, ...(secret !== undefined && { secret }) };
      const change = isMoved ? rest : given;
      const changed = [...Object.keys(system), ...Object.keys(given)];
      if (changed.length === 0) {
        throw new UsageError('Name at least one setting to change; see --help.');
      }
      if (isMoved) {
        await setConnection(seller, connection, by);
      }
      if (Object.keys(change).length > 0) {
        await changeProvider(seller, change, by);
      }
      return {
        data: { seller: seller.username, changed },
        text: `${seller.username} is changed.`,
      };
    },
  });
}

interface System {
  kind?: 'digiflazz' | 'h2h' | 'iak' | 'simulator';
  baseUrl?: string;
  username?: string;
}

function withoutUndefined(system: { [name in keyof System]: System[name] | undefined }): System {
  return Object.fromEntries(Object.entries(system).filter(([, value]) => value !== undefined));
}

async function changeOf(options: SetOptions): Promise<ProviderChange & System> {
  const { kind, url, username, signWith, callsPerSecond, concurrency, maxWait, serialPlaceholder } = options;
  const secret =
    options.secretStdin === true || options.callbackSecretStdin === true ? await secretFromStdin() : null;
  if (secret === '') {
    throw new UsageError('There is no secret on standard input.');
  }
  return {
    ...(kind && { kind }),
    ...(url !== undefined && { baseUrl: url }),
    ...(username !== undefined && { username }),
    ...(signWith && { signWith }),
    ...(callsPerSecond !== undefined && { callsPerSecond: callsPerSecond || null }),
    ...(concurrency !== undefined && { concurrency: concurrency || null }),
    ...(maxWait !== undefined && { maxWaitS: maxWait || null }),
    ...(serialPlaceholder && { serialPlaceholders: withoutEmpty(serialPlaceholder) }),
    ...(secret !== null && (options.secretStdin ? { secret } : { callbackSecret: secret })),
  };
}

/** Collects the values of a repeated option. */
function placeholder(value: string, before: string[] = []): string[] {
  const text = value.trim();
  if (text.length > limits.serialPlaceholderLengthMax || before.length >= limits.serialPlaceholdersMax) {
    throw new InvalidArgumentError(
      `Give at most ${limits.serialPlaceholdersMax} texts of at most ${limits.serialPlaceholderLengthMax} characters.`,
    );
  }
  return [...before, text];
}

function withoutEmpty(texts: string[]): string[] | null {
  const kept = texts.filter((text) => text !== '');
  return kept.length === 0 ? null : kept;
}

function registerFloat(group: Command): void {
  defineCommand(group, {
    usage: 'float <seller>',
    action: 'provider.float',
    summary: "Query our balance at a seller's provider now",
    examples: ['provider float grosir'],
    async run({ arg }) {
      const [{ requireAccount }, { refreshFloat }] = await Promise.all([
        import('../../src/accounts/find-account.js'),
        import('../../src/providers/refresh-providers.js'),
      ]);
      const seller = await requireAccount(arg('seller'));
      if (!seller.provider) {
        throw new UsageError(`${seller.username} has no provider.`);
      }
      const amount = await refreshFloat(seller);
      return {
        data: { seller: seller.username, float: amount },
        text: amount === null ? 'The provider did not report a balance.' : facts([['float', rupiah(amount)]]),
        failed: amount === null,
      };
    },
  });
}

function registerAccept(group: Command): void {
  defineOperationCommand(group, {
    usage: 'accept <seller> <day>',
    action: 'provider.accept',
    summary: "Accept the differences between a provider's record and ours for a day",
    details:
      'Ends the alarm of that day (YYYY-MM-DD in business time) and changes no purchase, so correct what is wrong first.\nIf more differences are found later, the alarm is active again.',
    examples: [
      'provider accept grosir 2026-11-21 --reason "booked by them a day late, their mail of 22 Nov"',
    ],
    options: [reasonOption()],
    operation: async () =>
      (await import('../../src/console/providers/check-provider.js')).acceptDifferencesCall,
    input: ({ fields }) => ({
      username: fields['seller'],
      seller: undefined,
      date: fields['day'],
      day: undefined,
    }),
    output: ({ date, different }, { arg }) => ({
      data: { seller: arg('seller'), date, different },
      text: `${different} differences of ${date} are accepted.`,
    }),
  });
}

function registerRoute(group: Command): void {
  defineOperationCommand(group, {
    usage: 'route <product>',
    action: 'provider.look',
    summary:
      'Show the order in which the sellers of a product would be tried now, and why a seller is skipped',
    examples: ['provider route S10'],
    operation: async () => (await import('../../src/console/providers/check-provider.js')).getRouting,
    output(data) {
      const listed = listText(data.offers, {
        columns: ['seller', 'price', 'cost', 'circuit', ['skipped because', ({ obstacle }) => obstacle]],
        empty: 'No seller offers it.',
      });
      return { data, text: data.closed === null ? listed : `Not sold now: ${data.closed}\n\n${listed}` };
    },
  });
}

function registerPrices(group: Command): void {
  defineCommand(group, {
    usage: 'prices <seller>',
    action: 'provider.reconcile',
    summary: "Compare a provider's price list with the seller's offers",
    details:
      'Fetches the price list and changes nothing. Exit code 1 if something differs.\n\nbelow-cost    sold for less than it costs there\nnot-listed    the provider does not sell it\nunreadable    its row there cannot be read\nunavailable   switched off or out of stock there\ncost-changed  the cost differs from ours',
    examples: ['provider prices grosir'],
    async run({ arg }) {
      const [{ requireAccount }, { comparePriceList }] = await Promise.all([
        import('../../src/accounts/find-account.js'),
        import('../../src/providers/compare-price-list.js'),
      ]);
      const data = await comparePriceList(await requireAccount(arg('seller')));
      const cost = (amount: number | null) => (amount === null ? '-' : rupiah(amount));
      const rows = data.differences.map((each) => [
        each.what,
        each.productCode,
        rupiah(each.price),
        cost(each.cost),
        cost(each.theirCost),
      ]);
      const counts = facts([
        ['offers', String(data.offers)],
        ['listed there', String(data.listed)],
        ['different', String(rows.length)],
      ]);
      return {
        data,
        text:
          rows.length === 0
            ? counts
            : `${counts}\n\n${table(['what', 'product', 'our price', 'our cost', 'their cost'], rows, [2, 3, 4])}`,
        failed: rows.length > 0,
      };
    },
  });
}
