/**
 * Every link between processes and their dependencies, with every network fault, at every stage of
 * a purchase. Nothing is lost or executed twice, and the service recovers by itself. Prints the
 * recovery times.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { eventually } from '../support/eventually.js';
import { startInbox, type RunningInbox } from '../support/inbox.js';
import { expectLedgerToBalance, expectLedgerVerified } from '../support/ledger.js';
import { startTcpGate, type TcpGate } from '../support/outage.js';
import { buyUntilAnswered } from '../support/purchases.js';
import { startSimulator, type RunningSimulator } from '../support/simulator.js';
import { sizes } from '../support/sizes.js';
import { startStack, type Stack } from '../support/stack.js';
import { startProgram, type RunningProgram } from '../support/start-program.js';

const { every, stacks, limitMs } = sizes.faults;
const purchasesOfACase = 4;
const faultMs = 3_000;
const slowMs = 750;
/**
 * Latency of the provider in milliseconds. Orders take long enough that a fault can occur while one
 * is in flight.
 */
const providerLatencyMs = 300;
/** A connection that the network drops silently may hold a database lock for a minute. */
const recoveryTimeoutMs = 150_000;

const links = [
  'web - MongoDB',
  'web - Redis',
  'worker - MongoDB',
  'worker - Redis',
  'worker - provider',
  'worker - receiver',
] as const;
type Link = (typeof links)[number];

const faults = {
  /** Existing connections lose their data. New connections work. */
  swallow: (gate: TcpGate) => gate.dropTraffic(),
  'lost reply': (gate: TcpGate) => gate.dropReplies(3),
  cut: (gate: TcpGate) => gate.cut(),
  slow: (gate: TcpGate) => gate.delay(slowMs),
  /** Connections can be opened, but no data is returned. */
  'half-open': (gate: TcpGate) => gate.hang(),
};
type Fault = keyof typeof faults;

/** The stages of a purchase at which a fault can begin. */
const moments = ['idle', 'asked', 'accepted', 'sent', 'final'] as const;
type Moment = (typeof moments)[number];

interface Case {
  link: Link;
  fault: Fault;
  moment: Moment;
}
const allCases: Case[] = links.flatMap((link) =>
  (Object.keys(faults) as Fault[]).flatMap((fault) => moments.map((moment) => ({ link, fault, moment }))),
);

interface ServiceCopy {
  stack: Stack;
  web: RunningProgram;
  gates: Record<Link, TcpGate>;
  simulator: RunningSimulator;
  inbox: RunningInbox;
  key: string;
  stop(): Promise<void>;
}

describe('network faults on every link at every stage of a purchase', function () {
  this.timeout(limitMs);
  const copies: ServiceCopy[] = [];

  before(async () => {
    // Start them one by one: ten processes at once would exceed the start time limit on a busy
    // machine.
    for (let n = 0; n < stacks; n++) {
      copies.push(await startCopy());
    }
  });
  after(() => Promise.all(copies.map((copy) => copy.stop())));

  const chosen = allCases.filter((_, index) => index % every === 0);
  it(`${chosen.length} cases: every purchase becomes final, is executed once and sends its webhook`, async () => {
    const waiting = [...chosen];
    const took = new Map<string, number>();
    const failed: string[] = [];
    const play = async (copy: ServiceCopy) => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const cell = `${next.link}, ${next.fault}`;
        try {
          const recoveredMs = await playCase(copy, next);
          took.set(cell, Math.max(took.get(cell) ?? 0, recoveredMs));
        } catch (error) {
          failed.push(`${cell}, ${next.moment}: ${String(error)}`);
          await copy.gates[next.link].restore();
        }
      }
      await expectLedgerToBalance(copy.stack);
      await expectLedgerVerified(copy.stack);
    };
    await Promise.all(copies.map(play));
    expect(failed.join('\n')).to.equal('');
    for (const [cell, ms] of [...took].sort(([a], [b]) => (a < b ? -1 : 1))) {
      process.stdout.write(`    ${cell}: complete at most ${(ms / 1_000).toFixed(1)} s after its end\n`);
    }
  });
});

async function startCopy(): Promise<ServiceCopy> {
  const [simulator, inbox] = await Promise.all([startSimulator(), startInbox()]);
  await simulator.control({ latency_ms: providerLatencyMs });
  const gateTo = (name: string) => startTcpGate(process.env[name] ?? '');
  const [webMongo, webRedis, workerMongo, workerRedis, provider, receiver] = await Promise.all([
    gateTo('MONGODB_URI'),
    gateTo('REDIS_URL'),
    gateTo('MONGODB_URI'),
    gateTo('REDIS_URL'),
    startTcpGate(simulator.url),
    startTcpGate(inbox.url),
  ]);
  const stack = await startStack({
    web: false,
    env: { SIMULATOR_URL: provider.url.replace(/\/$/, ''), INBOX_URL: receiver.url.replace(/\/$/, '') },
  });
  const by = (mongo: TcpGate, redis: TcpGate) => ({
    MONGODB_URI: routeThroughGate(mongo, stack.env['MONGODB_URI'] ?? ''),
    REDIS_URL: redis.url,
  });
  const web = await stack.startWeb(by(webMongo, webRedis));
  const worker = await startProgram('workers/run.js', ['all'], {
    ...stack.env,
    ...by(workerMongo, workerRedis),
  });
  const key = (await stack.seed())['buyer']?.api_key ?? '';
  await deposit(apiClient(web.url, key), 100_000_000);
  const gates = {
    'web - MongoDB': webMongo,
    'web - Redis': webRedis,
    'worker - MongoDB': workerMongo,
    'worker - Redis': workerRedis,
    'worker - provider': provider,
    'worker - receiver': receiver,
  };
  return {
    stack,
    web,
    gates,
    simulator,
    inbox,
    key,
    async stop() {
      await Promise.all(Object.values(gates).map((gate) => gate.restore()));
      await worker.stop();
      await stack.stop();
      await Promise.all([simulator.stop(), inbox.stop()]);
      await Promise.all(Object.values(gates).map((gate) => gate.stop()));
    },
  };
}

/** Returns the URI of the same database through the gate. */
function routeThroughGate(gate: TcpGate, databaseUri: string): string {
  const uri = new URL(databaseUri);
  uri.host = new URL(gate.url).host;
  // With a replica set name, the driver would connect to the address that the server advertises,
  // and bypass the gate.
  uri.searchParams.delete('replicaSet');
  uri.searchParams.set('directConnection', 'true');
  return uri.toString();
}

/**
 * Runs one case.
 * @returns the milliseconds from the end of the fault until every purchase has a response, is final
 * and has its webhook delivered.
 */
async function playCase(copy: ServiceCopy, { link, fault, moment }: Case): Promise<number> {
  const gate = copy.gates[link];
  const { stack, web, simulator, inbox, key } = copy;
  const transactions = stack.db.collection<{ _id: string; status: string }>('transactions');
  const before = (await simulator.log()).length;
  const ids: string[] = [];
  let endedAt = NaN;

  const buyAll = () =>
    Promise.all(
      Array.from({ length: purchasesOfACase }, async (_, n) => {
        ids.push(await buyUntilAnswered({ key, number: `08123456${n}230` }, () => web.url));
      }),
    );
  const playFault = async () => {
    await faults[fault](gate);
    if (fault !== 'swallow' && fault !== 'lost reply') {
      await wait(faultMs);
      await gate.restore();
    }
    endedAt = performance.now();
  };
  const isFinal = () =>
    transactions.findOne({ _id: { $in: ids }, status: { $nin: ['PENDING', 'PROCESSING'] } });
  const begun: Record<Exclude<Moment, 'idle' | 'asked'>, () => unknown> = {
    accepted: () => ids.length > 0,
    sent: async () => (await simulator.log()).length > before,
    final: isFinal,
  };

  if (moment === 'idle') {
    await playFault();
    await buyAll();
  } else if (moment === 'asked') {
    await Promise.all([playFault(), buyAll()]);
  } else {
    const bought = buyAll();
    await eventually(`stage "${moment}"`, async () => ((await begun[moment]()) ? true : null), 30_000);
    await Promise.all([playFault(), bought]);
  }
  await eventually(
    'every purchase is final',
    async () => {
      const open = await transactions.find({ _id: { $in: ids }, status: /^P/ }).toArray();
      return open.length === 0 || Promise.reject(new Error(`open: ${JSON.stringify(open)}`));
    },
    recoveryTimeoutMs,
  );
  const final = await transactions.find({ _id: { $in: ids } }).toArray();
  expect(final, 'final purchases').to.have.length(purchasesOfACase);
  for (const { _id, status } of final) {
    await inbox.waitFor(
      ({ headers, raw }) => headers['x-event'] === `transaction.${status.toLowerCase()}` && raw.includes(_id),
      recoveryTimeoutMs,
    );
  }
  const recoveredMs = performance.now() - endedAt;
  const executed = (await simulator.log()).map((row) => row.ref_id.replace(/-\d+$/, ''));
  for (const { _id, status } of final) {
    const times = executed.filter((id) => id === _id).length;
    expect(times, `executions of ${_id} with status ${status}`).to.equal(status === 'SUCCESS' ? 1 : 0);
  }
  return recoveredMs;
}
