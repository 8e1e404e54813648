/** Causes of alarms about troubles that only the affected process can detect. */
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { getMetricsUrl } from '../../support/scrape.js';
import type { RunningProgram } from '../../support/start-program.js';
import type { Cause, Causes, Scene } from './scene.js';

export function causesOfProcesses({ stack, rows, withRedis }: Scene): Causes {
  const prefix = stack.env['QUEUE_PREFIX'] ?? '';
  const played = randomUUID().replaceAll('-', '');
  const index = 'account_ref_unique';
  let web: RunningProgram | undefined;

  /**
   * Builds a cause that simulates the trouble report of a process, because a real report lasts ten
   * minutes.
   */
  const buildCause = (alarm: string, how: string, troubles: object): Cause => {
    const say = (found: object) =>
      withRedis(async (client) => {
        const [seconds] = await client.time();
        await client.zadd(`${prefix}:processes`, Number(seconds) * 1_000, `played:${played}`);
        const key = `${prefix}:process-says:${played}`;
        const stored = JSON.parse((await client.get(key)) ?? '{}') as { troubles?: object };
        const none = { isNotReady: false, lagMs: 0 };
        const all = { ...none, failedPostings: 0, unsentWebhooks: 0, refusedConnections: 0 };
        const now = { version: '0', startedAtMs: 0, memoryBytes: 1 };
        await client.set(key, JSON.stringify({ ...now, troubles: { ...all, ...stored.troubles, ...found } }));
      });
    const nothing = Object.fromEntries(Object.keys(troubles).map((name) => [name, 0]));
    return {
      alarm,
      how: `${how} †`,
      begin: () => say(troubles),
      restore: () => say(troubles),
      end: () => say(nothing),
    };
  };

  const causes: Cause[] = [
    {
      alarm: 'TopupWebMissing',
      // Without a web process no purchase can be made and no other alarm of a web process can
      // start.
      beginsLast: true,
      endsFirst: true,
      how: 'kill -9 of every web process',
      of: () => web,
      begin: () => Promise.all([stack.web?.stop('SIGKILL'), web?.stop('SIGKILL')]),
      async end() {
        web = await stack.startWeb({ PORT: new URL(stack.baseUrl).port });
        await getMetricsUrl(web);
      },
    },
    {
      alarm: 'TopupProcessNotReady',
      // Without the index no posting is written, so this cause must end before the others.
      endsFirst: true,
      how: 'a web process that starts without a unique index',
      of: () => web,
      async begin() {
        await rows('transactions').dropIndex(index);
        const lags = `--require ${path.resolve('test/support/lag-on-signal.cjs')}`;
        web = await stack.startWeb({ NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} ${lags}` });
      },
      end: () =>
        rows('transactions').createIndexes([{ key: { accountId: 1, refId: 1 }, unique: true, name: index }]),
    },
    {
      alarm: 'TopupEventLoopLag',
      about: 'web',
      how: 'repeated blocks of its event loop for 0.7 s',
      of: () => web,
      begin: () => Promise.resolve(web?.process.kill('SIGWINCH')),
      end: () => Promise.resolve(web?.process.kill('SIGWINCH')),
    },
    buildCause('TopupPostingsFailed', 'a process that reports it', { failedPostings: 1 }),
    buildCause('TopupWebhooksUnsent', 'the same', { unsentWebhooks: 1 }),
    buildCause('TopupConnectionsUsedUp', 'the same', { refusedConnections: 11 }),
  ];
  return { causes, stop: () => Promise.resolve() };
}
