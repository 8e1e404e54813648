import { Option, type Command } from 'commander';
import { defineCommand } from './define-command.js';
import { facts, rupiah } from './format.js';
import { defineOperationCommand, runOperation } from './operation-command.js';
import { httpUrl, optionalReasonOption, reasonOption, secretFromStdin } from './options.js';
import { UsageError } from './usage-error.js';

interface ConnectOptions {
  seller?: string;
  url?: string;
  username?: string;
  secretStdin?: boolean;
  anyway?: boolean;
  reason?: string;
}

interface Connected {
  seller: string;
  api_key: string | null;
  balance: number | null;
  problem: string | null;
  callback_url: string | null;
  callback_secret: string | null;
  callback_help: { en: string; id: string };
  has_test: boolean;
}

/** `topup provider connect`: a seller with a checked connection, in one command. */
export function registerProviderConnect(group: Command): void {
  defineCommand<ConnectOptions>(group, {
    usage: 'connect <kind>',
    action: 'provider.set',
    summary: 'Check a connection to a provider and store it, for a new or an existing seller',
    details:
      'Kinds: digiflazz, h2h, simulator. The check reads our balance at the provider, and buys nothing. If it fails, nothing is stored, except with --anyway. The secret is read from standard input.\n\nPrints the callback URL, the secret that signs callbacks (if we choose it), and where to enter them at the provider. The URL begins with BASE_URL, the public address of this service.',
    examples: [
      'provider connect digiflazz --username our-name --secret-stdin < secret.txt',
      'provider connect h2h --seller grosir --url https://pulsa.example/api/reseller --username our-name \\\n      --secret-stdin < secret.txt',
    ],
    options: [
      new Option('--seller <username>', 'new or existing seller (default: the kind)'),
      new Option('--url <url>', 'its address, if the kind has no default').argParser(httpUrl),
      new Option('--username <name>', 'our username there (default: the seller)'),
      new Option('--secret-stdin', 'read our secret for the provider from standard input'),
      new Option('--anyway', 'store the connection also if the check fails'),
      optionalReasonOption(),
    ],
    async run({ arg, options, by }) {
      const kind = arg('kind');
      const seller = options.seller ?? kind;
      const secret = options.secretStdin === true ? await secretFromStdin() : '';
      if (secret === '') {
        throw new UsageError('Give our secret for the provider: --secret-stdin < file');
      }
      const { connectProviderCall } = await import('../../src/console/providers/connect-provider.js');
      const reason = options.reason ?? `connect ${kind}`;
      const done = (await runOperation(
        connectProviderCall,
        {
          seller,
          kind,
          base_url: options.url,
          username: options.username ?? seller,
          secret,
          anyway: options.anyway,
          reason,
        },
        { ...by, reason },
      )) as Connected;
      return { data: done, text: describe(done) };
    },
  });
}

function describe(done: Connected): string {
  const { seller } = done;
  return [
    facts([
      ['seller', seller],
      ['balance there', done.balance === null ? null : rupiah(done.balance)],
      ['problem', done.problem],
      ['api key', done.api_key],
      ['callback url', done.callback_url ?? 'set BASE_URL, the public address of this service, first'],
      ['callback secret', done.callback_secret],
    ]),
    '',
    done.callback_help.en,
    '',
    'Next:',
    ...(done.has_test ? [`  npm run topup -- provider test ${seller} --reason "first test"`] : []),
    `  npm run topup -- provider import ${seller} --margin 2% --round 50`,
  ].join('\n');
}

/** `topup provider test`: one order in the provider's own test mode. */
export function registerProviderTest(group: Command): void {
  defineOperationCommand(group, {
    usage: 'test <seller>',
    action: 'provider.set',
    summary: "Send one order in a provider's own test mode",
    details:
      'It buys nothing, moves no money and stores no purchase. Digiflazz gets its documented test order, the simulator an order of the sandbox. Other kinds have no test mode: buy the cheapest product for your own number. Exit code 1 if the order was not accepted.',
    examples: ['provider test grosir --reason "first test"'],
    options: [reasonOption()],
    operation: async () =>
      (await import('../../src/console/providers/connect-provider.js')).sendTestOrderCall,
    input: ({ fields }) => ({ username: fields['seller'], seller: undefined }),
    output: (data) => ({
      data,
      text: facts([
        ['reference', data.reference],
        ['outcome', describeOutcome(data.outcome)],
        ['response', `${data.code}: ${data.message}`],
        ['serial number', data.serial_number],
      ]),
      failed: data.outcome !== 'success' && data.outcome !== 'pending',
    }),
  });
}

function describeOutcome(outcome: string): string {
  switch (outcome) {
    case 'success':
      return 'success: the provider accepts our orders';
    case 'pending':
      return 'accepted, still in progress there: the provider accepts our orders';
    case 'refused':
      return 'refused: read the response below';
    case 'not-sent':
      return 'not sent';
    default:
      return 'unknown: the response could not be understood';
  }
}
