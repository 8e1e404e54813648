/**
 * Every alarm that is told without Prometheus, caused for real and ended, with the seconds that took. What a rule waits for by
 * the clock (`forMs`, up to three hours) is skipped: its beginning is moved back where it is kept.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { alarmRules } from '../../src/signals/alarms.js';
import { newBuyer } from '../providers/provider-stack.js';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { startPrivateRedis, type PrivateRedis } from '../support/private-redis.js';
import { sizes } from '../support/sizes.js';
import { startStack, type Stack } from '../support/stack.js';
import { causesOfAlarms, type Cause, type CausesOfAlarms } from './causes-of-alarms.js';

interface Seen {
  stoodS?: number;
  toldS?: number;
  overS?: number;
}

const hourMs = 3_600_000;
const skippedMs = 4 * hourMs;
const ago = (ms: number) => new Date(Date.now() - ms);

(sizes.silence.isPlayed ? describe : describe.skip)('every alarm', function () {
  this.timeout(400_000);
  let stack: Stack;
  let redis: PrivateRedis;
  let buyer: ApiClient;
  let receiver: http.Server;
  let played: CausesOfAlarms;
  const told: string[] = [];

  before(async () => {
    receiver = http.createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        told.push((JSON.parse(body) as { text: string }).text);
        response.end('ok');
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    redis = await startPrivateRedis();
    const { port } = receiver.address() as AddressInfo;
    stack = await startStack({
      env: { ALERT_WEBHOOK_URL: `http://127.0.0.1:${port}/alerts`, REDIS_URL: redis.url },
    });
    const accounts = await stack.seed();
    buyer = await newBuyer(stack, accounts['buyer']?.api_key ?? '');
    await stack.startWorker('fulfilment', 'follow-up');
    played = causesOfAlarms({ stack, redis, buyer });
  });
  after(async () => {
    await played.stop();
    await stack.stop();
    receiver.close();
    await redis.stop();
  });

  it('is told once when it begins and once when it is over', async () => {
    const { causes } = played;
    const names = alarmRules.map(({ name }) => name);
    const kept = alarmRules.filter(({ keepMs }) => keepMs !== undefined).map(({ name }) => name);
    expect(Object.keys(causes)).to.have.members(names);
    const seen = new Map<string, Seen>(names.map((name) => [name, {}]));
    const begunMs = new Map<string, number>();
    const since = (name: string) => Math.round((Date.now() - (begunMs.get(name) ?? NaN)) / 1_000);
    await stack.db
      .collection<{ _id: string; at: Date }>('clockRuns')
      .insertOne({ _id: 'work-of-an-earlier-release', at: ago(48 * hourMs) });
    for (const [name, cause] of Object.entries(causes)) {
      await cause.begin();
      begunMs.set(name, Date.now());
    }
    const eachHas = (what: keyof Seen): true => {
      const without = [...seen].filter(([, of]) => of[what] === undefined).map(([name]) => name);
      expect(without).to.deep.equal([]);
      return true;
    };
    const alarms = stack.db.collection<{ _id: string }>('alarms');
    const textsOf = (name: string, word: string) =>
      told.filter(
        (text) =>
          text.startsWith(`[${word}] ${name}`) && /[: ]/.test(text[word.length + name.length + 3] ?? ''),
      );
    const severityOf = (name: string) => alarmRules.find((rule) => rule.name === name)?.severity ?? '';
    let wereKept = false;
    try {
      await eventually(
        'all to be told',
        async () => {
          for (const { _id } of await alarms.find().toArray()) {
            const of = seen.get(_id.split(' ')[0] ?? '');
            if (of) {
              of.stoodS ??= since(_id.split(' ')[0] ?? '');
            }
          }
          // As if each had stood for as long as its rule says.
          await alarms.updateMany(
            { told: false, since: { $gt: ago(hourMs) } },
            { $set: { since: ago(skippedMs) } },
          );
          for (const [name, of] of seen) {
            if (textsOf(name, severityOf(name)).length > 0) {
              of.toldS ??= since(name);
            }
          }
          return eachHas('toldS');
        },
        110_000,
      );
      for (const [name, cause] of Object.entries(causes)) {
        await cause.end();
        begunMs.set(name, Date.now());
      }
      await eventually(
        'all to be over',
        async () => {
          for (const [name, of] of seen) {
            if ((await alarms.countDocuments({ _id: new RegExp(`^${name}( |$)`) })) === 0) {
              of.overS ??= since(name);
            }
          }
          const left = [...seen].filter(([, { overS }]) => overS === undefined).map(([name]) => name);
          if (String(left) === String(kept)) {
            // Nothing is so any more, and these still stand; their time is skipped.
            wereKept = true;
            await alarms.updateMany({ seenAt: { $ne: null } }, { $set: { seenAt: ago(skippedMs) } });
          }
          return eachHas('overS');
        },
        150_000,
      );
    } finally {
      print(causes, seen);
    }
    expect(wereKept, String(kept)).to.equal(true);
    const counts = new Map<string, number>();
    for (const text of told) {
      const [, word = '', id = ''] = /^\[(\w+)\] ([^:]+):/.exec(text) ?? [];
      const key = `${word === 'over' ? 'over' : 'begun'} ${id}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    expect(told.filter((text) => text.includes('work-of-an-earlier-release'))).to.deep.equal([]);
    for (const name of names.filter((each) => each !== 'TopupProviderCircuitOpen')) {
      const ids = [...counts.keys()].filter((key) => key.startsWith(`begun ${name}`));
      expect(ids, name).to.not.deep.equal([]);
      for (const id of ids) {
        expect([counts.get(id), counts.get(id.replace('begun', 'over'))], id).to.deep.equal([1, 1]);
      }
    }
  });
});

function print(causes: Record<string, Cause>, seen: Map<string, Seen>): void {
  const line = (...cells: (string | number | undefined)[]) =>
    cells
      .map((cell, at) => String(cell ?? '-').padEnd([28, 46, 8, 8, 8][at] ?? 8))
      .join('')
      .trimEnd();
  const lines = [...seen].map(([name, { stoodS, toldS, overS }]) =>
    line(name, causes[name]?.how, stoodS, toldS, overS),
  );
  const head = line('alarm', 'cause', 'stands', 'told', 'over, in seconds');
  process.stdout.write(`${[head, ...lines].map((each) => `    ${each}`).join('\n')}\n`);
}
