/**
 * Causes and ends every alarm that works without Prometheus. Prints the times until start and end,
 * and the readiness of the affected process. To skip the waiting time of a rule (`forMs`, up to
 * three hours), the test moves the stored start back.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { request } from 'undici';
import { alarmRules } from '../../src/signals/alarm-rules.js';
import { newBuyer } from '../providers/provider-stack.js';
import { eventually } from '../support/eventually.js';
import { findNoonZone } from '../support/noon-zone.js';
import { startPrivateRedis, type PrivateRedis } from '../support/private-redis.js';
import { getMetricsUrl } from '../support/scrape.js';
import { sizes } from '../support/sizes.js';
import { startStack, type Stack } from '../support/stack.js';
import type { RunningProgram } from '../support/start-program.js';
import { causesOfAlarms } from './causes/causes-of-alarms.js';
import { ago, hourMs, sceneOf, type Cause, type Causes } from './causes/scene.js';

interface AlarmTimes {
  stoodS?: number;
  toldS?: number;
  overS?: number;
  /** Result of /readyz in the affected process when the alarm was announced. */
  ready?: string;
  /** The same after the alarm had ended. */
  readyAfter?: string;
}

const skippedMs = 4 * hourMs;

(sizes.silence.isPlayed ? describe : describe.skip)('every alarm', function () {
  this.timeout(400_000);
  let stack: Stack;
  let redis: PrivateRedis;
  let receiver: http.Server;
  let main: RunningProgram;
  let played: Causes;
  const messages: string[] = [];

  before(async () => {
    receiver = http.createServer((incoming, response) => {
      let body = '';
      incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
      incoming.on('end', () => {
        messages.push((JSON.parse(body) as { text: string }).text);
        response.end('ok');
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    redis = await startPrivateRedis();
    const { port } = receiver.address() as AddressInfo;
    stack = await startStack({
      env: {
        ALERT_WEBHOOK_URL: `http://127.0.0.1:${port}/alerts`,
        REDIS_URL: redis.url,
        METRICS_PORT: '0',
        LOG_LEVEL: 'info',
        BUSINESS_TIMEZONE: findNoonZone(),
      },
    });
    const accounts = await stack.seed();
    const key = accounts['buyer2']?.api_key ?? '';
    const [buyer, other] = await Promise.all([
      newBuyer(stack, accounts['buyer']?.api_key ?? ''),
      newBuyer(stack, key),
    ]);
    const [started, webhooks] = await Promise.all([
      stack.startWorker('fulfilment', 'follow-up'),
      stack.startWorker('webhooks'),
    ]);
    main = started;
    played = causesOfAlarms(sceneOf({ stack, redis, buyer, other }), { webhooks, otherKey: key });
  });
  after(async () => {
    await played.stop();
    await stack.stop();
    receiver.close();
    await redis.stop();
  });

  it('is announced once when it starts and once when it ends', async () => {
    const { causes } = played;
    const names = alarmRules.map(({ name }) => name);
    const lingeringNames = alarmRules.filter(({ keepMs }) => keepMs !== undefined).map(({ name }) => name);
    expect([...new Set(causes.map(({ alarm }) => alarm))]).to.have.members(names);
    const seen = new Map<string, AlarmTimes>(names.map((name) => [name, {}]));
    const begunMs = new Map<string, number>();
    const since = (name: string) => Math.round((Date.now() - (begunMs.get(name) ?? NaN)) / 1_000);
    await stack.db
      .collection<{ _id: string; at: Date }>('clockRuns')
      .insertOne({ _id: 'work-of-an-earlier-release', at: ago(48 * hourMs) });
    const begin = async (cause: Cause) => {
      begunMs.set(cause.alarm, NaN);
      await cause.begin();
      begunMs.set(cause.alarm, Date.now());
    };
    const last = causes.filter(({ beginsLast }) => beginsLast);
    for (const cause of causes.filter((each) => !last.includes(each))) {
      await begin(cause);
    }
    const eachHas = (what: keyof AlarmTimes): true => {
      const without = [...seen].filter(([, of]) => of[what] === undefined).map(([name]) => name);
      expect(without).to.deep.equal([]);
      return true;
    };
    const alarms = stack.db.collection<{ _id: string; endedAt: Date | null }>('alarms');
    const idsTold = (name: string, word: string) =>
      new Set(
        messages
          .filter((text) => text.startsWith(`[${word}] ${name}`))
          .map((text) => text.slice(word.length + 3).split(':', 1)[0] ?? '')
          .filter((id) => id === name || id.startsWith(`${name} `)),
      );
    const severityOf = (name: string) => alarmRules.find((rule) => rule.name === name)?.severity ?? '';
    /**
     * The number of announcements to expect. Several causes of one alarm affect one provider each.
     */
    const wanted = (name: string) => causes.filter(({ alarm }) => alarm === name).length;
    const processOf = (name: string) => causes.find(({ alarm }) => alarm === name)?.of?.() ?? main;
    const aboutOthers = causes.flatMap(({ alarm, about }) =>
      about === undefined ? [] : [{ _id: { $regex: `^${alarm} `, $ne: `${alarm} ${about}` } }],
    );
    let wereKept = false;
    try {
      await eventually(
        'all alarms are announced',
        async () => {
          await Promise.all(causes.flatMap((cause) => (cause.restore ? [cause.restore()] : [])));
          for (const { _id } of await alarms.find({ endedAt: null }).toArray()) {
            const of = seen.get(_id.split(' ')[0] ?? '');
            if (of) {
              of.stoodS ??= since(_id.split(' ')[0] ?? '');
            }
          }
          // Move the start back, as if each alarm had lasted for the waiting time of its rule.
          await alarms.updateMany(
            { told: false, since: { $gt: ago(hourMs) }, $nor: aboutOthers },
            { $set: { since: ago(skippedMs) } },
          );
          for (const [name, of] of seen) {
            if (of.toldS === undefined && idsTold(name, severityOf(name)).size >= wanted(name)) {
              of.toldS = since(name);
              of.ready = await readiness(processOf(name));
            }
          }
          const left = [...seen].filter(([, { toldS }]) => toldS === undefined).map(([name]) => name);
          if (left.length === last.length) {
            // All other alarms are announced, so start the next of the causes with `beginsLast`.
            await Promise.all(last.splice(0, 1).map(begin));
          }
          return eachHas('toldS');
        },
        150_000,
      );
      const first = causes.filter(({ endsFirst }) => endsFirst);
      for (const cause of [...first.toReversed(), ...causes.filter((each) => !first.includes(each))]) {
        await cause.end();
        begunMs.set(cause.alarm, Date.now());
      }
      await eventually(
        'all alarms are over',
        async () => {
          for (const [name, of] of seen) {
            if ((await alarms.countDocuments({ _id: new RegExp(`^${name}( |$)`), endedAt: null })) === 0) {
              of.overS ??= since(name);
            }
          }
          const left = [...seen].filter(([, { overS }]) => overS === undefined).map(([name]) => name);
          if (String(left) === String(lingeringNames)) {
            // All causes have ended. `keepMs` keeps these alarms active for longer, so skip that
            // time.
            wereKept = true;
            await alarms.updateMany({ seenAt: { $ne: null } }, { $set: { seenAt: ago(skippedMs) } });
          }
          return eachHas('overS');
        },
        150_000,
      );
      for (const [name, of] of seen) {
        of.readyAfter = await readiness(processOf(name));
      }
    } finally {
      print(causes, seen);
      const standing = await alarms.find({ endedAt: null }).toArray();
      process.stdout.write(`    still active: ${standing.map(({ _id }) => _id).join(', ') || 'none'}\n`);
    }
    expect(wereKept, String(lingeringNames)).to.equal(true);
    expect([...seen.values()].filter(({ readyAfter }) => readyAfter !== 'ready')).to.deep.equal([]);
    // A suspended process does not respond to its probe, so other processes report it.
    expect(seen.get('TopupProcessSilent')?.ready).to.equal('no answer');
    expect(seen.get('TopupQueueStuck')?.ready).to.equal('no answer');
    const counts = new Map<string, number>();
    for (const text of messages) {
      const [, word = '', id = ''] = /^\[(\w+)\] ([^:]+):/.exec(text) ?? [];
      const key = `${word === 'over' ? 'over' : 'begun'} ${id}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    expect(messages.filter((text) => text.includes('work-of-an-earlier-release'))).to.deep.equal([]);
    for (const name of names) {
      const ids = [...counts.keys()].filter((key) => key.startsWith(`begun ${name}`));
      expect(ids, name).to.not.deep.equal([]);
      for (const id of ids) {
        expect([counts.get(id), counts.get(id.replace('begun', 'over'))], id).to.deep.equal([1, 1]);
      }
    }
  });
});

async function readiness(program: RunningProgram): Promise<string> {
  const url = await getMetricsUrl(program);
  try {
    const { statusCode, body } = await request(`${url}/readyz`, { headersTimeout: 2_000 });
    await body.dump();
    return statusCode === 200 ? 'ready' : String(statusCode);
  } catch {
    return 'no answer';
  }
}

function print(causes: Cause[], seen: ReadonlyMap<string, AlarmTimes>): void {
  const line = (...cells: (string | number | undefined)[]) =>
    cells
      .map((cell, at) => String(cell ?? '-').padEnd([28, 62, 8, 8, 8, 12][at] ?? 8))
      .join('')
      .trimEnd();
  const lines = causes.map(({ alarm, how }) => {
    const { stoodS, toldS, overS, ready } = seen.get(alarm) ?? {};
    return line(alarm, how, stoodS, toldS, overS, ready);
  });
  const head = line('alarm', 'cause (* a time was moved, † played)', 'stands', 'told', 'over', 'its process');
  process.stdout.write(`${[head, ...lines].map((each) => `    ${each}`).join('\n')}\n`);
}
