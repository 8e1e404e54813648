import { Option, type Command } from 'commander';
import { defineCommand, defineGroup } from './define-command.js';
import { facts, listText, status, type Column } from './format.js';
import { defineOperationCommand } from './operation-command.js';
import { followDeliveries } from './follow-deliveries.js';
import { httpUrl, limitOption, optionalReasonOption, reasonOption } from './options.js';
import { UsageError } from './usage-error.js';

/**
 * `topup listen` and `topup webhooks …`: outgoing webhooks and callbacks, for developers and
 * operators.
 */
export function registerWebhooks(program: Command): void {
  registerListen(program);
  const webhooks = defineGroup(
    program,
    'webhooks',
    'Webhooks and callbacks: verify, list dead deliveries, replay, enable',
  );
  registerVerify(webhooks);
  registerDead(webhooks);
  registerReplay(webhooks);
  registerReplayDead(webhooks);
  registerEnable(webhooks);
}

function registerListen(program: Command): void {
  defineCommand<{ forwardTo: string; count?: number }>(program, {
    usage: 'listen <username>',
    action: 'webhook.listen',
    summary: 'Forward new events of an account to a program on this machine',
    details:
      'Posts a copy of every new webhook and callback to the URL, with the same body and id and a new signature.\nThe account still receives its own deliveries. Ctrl-C stops it.',
    examples: ['listen buyer --forward-to http://localhost:4000/hook'],
    options: [
      new Option('--forward-to <url>', 'URL to forward to').argParser(httpUrl).makeOptionMandatory(),
      new Option('--count <n>', 'stop after this many events').argParser(Number),
    ],
    async run({ arg, options, by }) {
      const forwarded = await followDeliveries({
        by,
        username: arg('username'),
        url: options.forwardTo,
        countMax: options.count ?? Infinity,
        onForwarded: (line) => process.stderr.write(`${line}\n`),
      });
      return { data: { forwarded }, text: `${forwarded} forwarded` };
    },
  });
}

function registerVerify(webhooks: Command): void {
  defineCommand<{ secret: string; file: string; ignoreAge?: boolean }>(webhooks, {
    usage: 'verify',
    action: 'message.verify',
    summary: 'Check the signatures of a captured message',
    details:
      'The file is JSON: {"headers": {...}, "raw": "the exact body"}, as the inbox shows it. Without --file it is read from standard input.',
    examples: [
      'webhooks verify --secret whsec_… --file message.json',
      'webhooks verify --secret whsec_… --file - --ignore-age < message.json',
    ],
    options: [
      new Option('--secret <whsec>', "the account's webhook secret").makeOptionMandatory(),
      new Option('--file <path>', 'the message; - for standard input').default('-'),
      new Option('--ignore-age', 'accept an old webhook-timestamp'),
    ],
    needsService: false,
    async run({ options }) {
      if (!/^whsec_[A-Za-z0-9+/]+=*$/.test(options.secret)) {
        throw new UsageError('A webhook secret is whsec_ followed by base64.');
      }
      const { readMessage, verifyMessage } = await import('./verify-message.js');
      const message = await readMessage(options.file);
      const result = verifyMessage(message, {
        secret: options.secret,
        ignoreAge: options.ignoreAge === true,
      });
      return {
        data: result,
        text: facts([
          ['x-signature', result.x_signature],
          ['webhook-signature', result.webhook_signature],
          ['message', result.genuine ? 'genuine' : 'NOT genuine'],
          ...(result.hint === null ? [] : [['hint', result.hint] as [string, string]]),
        ]),
        failed: !result.genuine,
      };
    },
  });
}

function registerDead(webhooks: Command): void {
  defineCommand<{ limit: number }>(webhooks, {
    usage: 'dead',
    action: 'webhook.look',
    summary: 'List dead deliveries, newest first',
    examples: ['webhooks dead', 'webhooks dead --limit 200 --json'],
    options: [limitOption()],
    async run({ options }) {
      const { listDeadDeliveries } = await import('../../src/webhooks/deliver/stored-deliveries.js');
      const rows = await listDeadDeliveries(options.limit);
      const data = rows.map((row) => ({
        id: row._id,
        account_id: row.accountId,
        event: row.event,
        ref_id: row.refId,
        attempts: row.attemptCount,
        error: row.attempts.at(-1)?.error ?? null,
        given_up_at: row.settledAt?.toISOString() ?? null,
      }));
      const columns: Column<(typeof data)[number]>[] = [
        'id',
        'event',
        ['reference', (each) => each.ref_id ?? ''],
        'attempts',
        ['last error', (each) => each.error ?? ''],
        'given_up_at',
      ];
      return { data, text: listText(data, { columns, empty: 'There is no dead delivery.' }) };
    },
  });
}

function registerReplay(webhooks: Command): void {
  defineCommand(webhooks, {
    usage: 'replay <id...>',
    action: 'webhook.replay',
    summary: 'Replay deliveries, each to the current URL of its account',
    details: 'A delivery that cannot be replayed is printed with the reason and does not stop the others.',
    examples: [
      'webhooks replay 018df5c8a1b27c3d9e4f5a6b7c8d9e0f-success-webhook',
      'webhooks replay <id> <id> <id> --reason "their server was down, ticket 812"',
    ],
    options: [optionalReasonOption()],
    async run({ args, by }) {
      const { replayIdsMax, replayMany } = await import('../../src/webhooks/replay/replay-many.js');
      const ids = [...new Set(args('id'))];
      if (ids.length > replayIdsMax) {
        throw new UsageError(`Give at most ${replayIdsMax} deliveries.`);
      }
      const replayed = await replayMany(ids, by);
      const [only] = replayed;
      if (replayed.length === 1 && only?.refusal) {
        throw only.refusal;
      }
      return {
        data: replayed.map(({ id, refusal }) => ({
          id,
          ...(refusal ? { refusal: refusal.message } : { status: 'due' }),
        })),
        text: replayed
          .map(({ id, refusal }) =>
            refusal ? `${id}: ${refusal.message}` : `${id} is ${status('due')} again`,
          )
          .join('\n'),
        failed: replayed.some(({ refusal }) => refusal !== null),
      };
    },
  });
}

function registerReplayDead(webhooks: Command): void {
  defineCommand<{ account?: string }>(webhooks, {
    usage: 'replay-dead',
    action: 'webhook.replay',
    summary: 'Replay dead deliveries, oldest first',
    details: 'Replays at most 1,000 and prints how many are left. Pings are left out.',
    examples: ['webhooks replay-dead --account warung-sari --reason "their server was down, ticket 812"'],
    options: [new Option('--account <username>', 'only deliveries of this account'), reasonOption()],
    async run({ options: { account }, by }) {
      const [{ countDead, replayDead }, { requireAccount }] = await Promise.all([
        import('../../src/webhooks/replay/replay-many.js'),
        import('../../src/accounts/find-account.js'),
      ]);
      const which = account === undefined ? {} : { accountId: (await requireAccount(account))._id };
      const { replayed, without_url } = await replayDead(which, by);
      const left = await countDead(which);
      return {
        data: { replayed, without_url, left },
        text: `${replayed} are due again, ${left} are left${without_url > 0 ? `, ${without_url} of them without a URL` : ''}.`,
      };
    },
  });
}

function registerEnable(webhooks: Command): void {
  defineOperationCommand(webhooks, {
    usage: 'enable <username>',
    action: 'webhook.enable',
    summary: 'Enable the disabled URLs of an account',
    details: 'Held deliveries are not sent automatically. The account or `webhooks replay` can replay them.',
    examples: ['webhooks enable warung-sari --reason "their server is back, by phone"'],
    options: [reasonOption()],
    operation: async () => (await import('../../src/console/accounts/change-account.js')).enableWebhooks,
    output: (data) => ({
      data,
      text: `Enabled; ${data.held} deliveries were held and can be replayed.`,
    }),
  });
}
