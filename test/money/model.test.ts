/**
 * Random histories of everything that moves money. Concurrent clients call four processes while the
 * database has faults. The result is compared with a simple model in memory (test/money/support).
 *
 * A failed history prints fast-check's seed and path. `SEED=<seed> HISTORY=<path> npm test --
 * test/money/model.test.ts -g <fault>` replays the shrunk history. Timing differs between runs, so
 * a replay may need several attempts.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'chai';
import { Long, MongoClient, type Db } from 'mongodb';
import { eventually } from '../support/eventually.js';
import { startFault, withProxy, type Fault, type FaultKind } from '../support/mongo-faults.js';
import { startPrivateMongo, type Outage } from '../support/outage.js';
import { seededRandom } from '../support/random.js';
import { sizes } from '../support/sizes.js';
import { callUntilDefinite, type Book } from './support/book.js';
import { setupTimeoutMs } from './support/called-service.js';
import { checkBook } from './support/check-book.js';
import { startFleet, type RunningFleet } from './support/fleet.js';
import { approvalThreshold, histories, takeStep, type Step } from './support/operations.js';

const { quick, slow, atOnce, fleets: fleetsMax, limitMs } = sizes.model;
const processes = 4;
const commands = ['find', 'update', 'insert', 'commitTransaction', 'abortTransaction'];
/**
 * Maximum duration of a fault in milliseconds. The clients that are still waiting then get their
 * responses.
 */
const troubleMaxMs = 800;
/** Time limit in milliseconds for shrinking a failed history. */
const shrinkMaxMs = 15_000;
const bills = [5_000, 12_000, 30_000];

const balance = 60_000;
const firstSteps: Omit<Step, 'process'>[] = [
  { operation: 'purchase', input: { who: 0, price: 30_000 } },
  { operation: 'conclusion', input: { which: 0, as: 'success' } },
  { operation: 'purchase', input: { who: 0, price: 4_000 } },
  { operation: 'purchase', input: { who: 1, price: 9_000 } },
];

type Trouble = Omit<Fault, 'kind' | 'uri'> | 'kill';
/**
 * Histories that one fleet of processes runs concurrently under one fault. Each history has its own
 * record of calls (Book).
 */
interface Batch {
  trouble: Trouble;
  /** By history and client: the steps of that client. */
  histories: Step[][][];
}

/** Generates a fault that affects these commands with a given probability. */
function buildFrequentTrouble(): fc.Arbitrary<Trouble> {
  return fc.record({
    commands: fc.subarray(commands, { minLength: 1 }),
    probability: fc.constantFrom(0.05, 0.2, 0.5),
  });
}

/** Generates a slow fault that occurs a limited number of times. */
function buildOccasionalTrouble(more: Partial<Fault>, at: string[] = commands): fc.Arbitrary<Trouble> {
  return fc
    .record({ commands: fc.subarray(at, { minLength: 1 }), times: fc.integer({ min: 1, max: 3 * atOnce }) })
    .map((drawn) => ({ ...drawn, ...more }));
}

/**
 * Commands whose reply must not be lost silently. A read outside a posting has no timeout, so it
 * would wait forever.
 */
const endless = ['find'];
const troubles: [kind: FaultKind | 'kill', trouble: fc.Arbitrary<Trouble>, runs: number][] = [
  ['reply-lost', buildFrequentTrouble(), quick],
  ['refused', buildFrequentTrouble(), quick],
  ['transient', buildFrequentTrouble(), quick],
  ['write-conflict', buildFrequentTrouble(), quick],
  ['unlabelled-error', buildFrequentTrouble(), quick],
  ['write-concern-timeout', buildFrequentTrouble(), quick],
  [
    'silence',
    buildOccasionalTrouble(
      {},
      commands.filter((each) => !endless.includes(each)),
    ),
    slow,
  ],
  ['pause', buildOccasionalTrouble({ ms: 5_000 }), slow],
  ['step-down', buildOccasionalTrouble({ ms: 1_000, times: 1 }), slow],
  ['kill', fc.constant('kill'), slow],
];

describe('money against a model', function () {
  this.timeout(limitMs);
  const { seed } = seededRandom();
  let mongo: Outage;
  let client: MongoClient;
  let db: Db;
  const worlds: { fleet: RunningFleet; uri: string }[] = [];

  before(async () => {
    // The locks of a killed process remain for 2 s, as they remain for a while on a real MongoDB.
    mongo = await withProxy(await startPrivateMongo({ lockLifetimeS: 2 }));
    client = await new MongoClient(mongo.url, { appName: 'test' }).connect();
    db = client.db();
    // Start the fleets one by one, because the first one creates the collections.
    for (let index = 0; index < fleetsMax; index++) {
      const uri = `${mongo.url}&appName=model-${randomUUID().slice(0, 8)}`;
      const fleet = await startFleet(processes, worldEnv(uri));
      worlds.push({ fleet, uri });
      if (index === 0) {
        await (await fleet.process(0)).callOrThrow('prepare', undefined);
      }
    }
  });
  /**
   * Empties the database after each kind of fault. A day close reads every wallet and would become
   * slower each time.
   */
  afterEach(async () => {
    const filled = (await db.collections()).filter((each) => each.collectionName !== 'products');
    await Promise.all(filled.map((each) => each.deleteMany({})));
  });
  after(async () => {
    await Promise.all(worlds.map(({ fleet }) => fleet.stop()));
    await client.close();
    await mongo.stop();
  });

  troubles.forEach(([kind, trouble, runs], index) => {
    it(`${kind}: all results are correct and no money is lost in ${runs} histories, ${atOnce} at once (${seed})`, async () => {
      const first = Number(seed.replace('SEED=', ''));
      const path = process.env['HISTORY'];
      // An election affects every fleet on the server, so only one fleet runs.
      const used = worlds.slice(0, path || kind === 'step-down' ? 1 : fleetsMax);
      const ended = await Promise.allSettled(
        used.map(({ fleet, uri }, number) => {
          const shrinking = { untilMs: Infinity };
          return fc.assert(
            fc.asyncProperty(
              fc.record({
                trouble,
                histories: fc.array(histories({ clients: 5, processes: [1, 2, processes], stepsMax: 3 }), {
                  minLength: atOnce,
                  maxLength: atOnce,
                }),
              }),
              async (batch) => {
                // Ends the shrinking when its time limit is reached, and reports the shortest
                // failed history so far.
                fc.pre(Date.now() < shrinking.untilMs);
                await runBatch({ kind, batch, fleet, uri }).catch((error: unknown) => {
                  shrinking.untilMs = Math.min(shrinking.untilMs, Date.now() + shrinkMaxMs);
                  throw error;
                });
              },
            ),
            {
              seed: path ? first : first + 100 * index + number,
              ...(path && { path }),
              numRuns: Math.ceil(runs / used.length / atOnce),
              interruptAfterTimeLimit: limitMs / 2,
              markInterruptAsFailure: true,
            },
          );
        }),
      );
      // Wait until each fleet has run all its histories, so that none disturbs the next test.
      const failed = ended.find((each) => each.status === 'rejected');
      if (failed) {
        throw failed.reason;
      }
      await expectVerified();
    });
  });

  /** Verifies the ledger of all histories that ran under this kind of fault. */
  async function expectVerified(): Promise<void> {
    const service = await (worlds[0] as (typeof worlds)[0]).fleet.process(0);
    const report = await service.callOrThrow('verify', undefined, limitMs);
    expect(report.findings).to.deep.equal([]);
    expect(report.ok).to.equal(true);
    expect(report.examined.transactions).to.be.greaterThan(0);
  }

  async function runBatch(at: {
    kind: FaultKind | 'kill';
    batch: Batch;
    fleet: RunningFleet;
    uri: string;
  }): Promise<void> {
    const { kind, batch, fleet, uri } = at;
    const played = await Promise.all(
      batch.histories.map(async (clients) => ({ clients, book: await openBook(fleet) })),
    );
    const running =
      kind === 'kill' || batch.trouble === 'kill' ? null : await startFault({ ...batch.trouble, kind, uri });
    const timer = setTimeout(() => void running?.end(), troubleMaxMs);
    try {
      await Promise.all(
        played.flatMap(({ clients, book }, history) =>
          clients.map((steps, number) => runSteps(book, steps, history === 0 && number === 0)),
        ),
      );
    } finally {
      clearTimeout(timer);
      await running?.end();
      await fleet.complete();
    }
    await Promise.all(
      played.map(async ({ book }) => {
        await callUntilDefinite({ fleet, first: 0 }, (service) =>
          service.call('postCredits', { sellerId: book.seller }),
        );
        await waitUntilUnlocked([...book.buyers, book.seller]);
        await checkBook(db, book);
      }),
    );

    async function runSteps(book: Book, steps: Step[], isKiller: boolean): Promise<void> {
      for (const [index, step] of steps.entries()) {
        const taken = takeStep({ book, fleet }, step);
        if (kind === 'kill' && isKiller && index === 0) {
          // Kill the process while its first calls are in progress.
          await eventually(
            'the first posting is written',
            () => db.collection('journals').findOne({ accountId: { $in: book.buyers } }),
            500,
          ).catch(() => null);
          await fleet.kill(step.process);
        }
        await taken;
      }
    }
  }

  function worldEnv(uri: string): NodeJS.ProcessEnv {
    return {
      ...process.env,
      SETTLEMENT_FEE: '0',
      ADJUSTMENT_APPROVAL_FROM: String(approvalThreshold),
      MONGODB_URI: uri,
    };
  }

  /**
   * Creates accounts with some purchases and one sale, so that the first steps have documents to
   * act on.
   */
  async function openBook(fleet: RunningFleet): Promise<Book> {
    let names = 0;
    // After a 503 from a busy machine, try again with new accounts.
    const { deposits, ...opened } = await eventually(
      'the history has its accounts',
      async () => (await fleet.process(0)).callOrThrow('openBook', { bills, balance }),
      setupTimeoutMs,
    );
    const id = randomUUID();
    const book: Book = {
      ...opened,
      asked: [],
      receivedStatuses: [],
      closed: [],
      uncovered: [],
      newName: () => `${id}-${++names}`,
    };
    const acceptedDeposit = {
      quoteId: null,
      heard: 'accepted' as const,
      fromMs: Date.now(),
      toMs: Date.now(),
    };
    for (const { accountId, refId, id } of deposits) {
      book.asked.push({
        ...acceptedDeposit,
        collection: 'deposits',
        accountId,
        name: { refId },
        change: balance,
        id,
      });
    }
    for (const step of firstSteps) {
      await takeStep({ book, fleet }, { ...step, process: 0 });
    }
    return book;
  }

  /**
   * Waits until the wallets are not locked. Lost clients and slow commits may still hold locks, and
   * a write outside a transaction waits for them.
   */
  async function waitUntilUnlocked(walletIds: string[]): Promise<void> {
    const wallets = db.collection<{ _id: string; seq: Long }>('wallets');
    await Promise.all(walletIds.map((_id) => wallets.updateOne({ _id }, { $inc: { seq: Long.ZERO } })));
  }
});
