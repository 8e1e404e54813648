/**
 * A process is killed with SIGKILL at each point of a group commit, that is, many movements of
 * several wallets in one database transaction. Either all of them are written or none. Every
 * repeated call gets its own right response, including a call that the balance does not cover.
 */
import { expect } from 'chai';
import { inParallel } from '../support/purchases.js';
import { uniqueRef } from '../support/api-client.js';
import { sizes } from '../support/sizes.js';
import type { AskedRouted } from './calls-process.js';
import { callUntilDefinite } from './support/book.js';
import {
  callIds,
  expectSingleCreator,
  holdBefore,
  startKillWorld,
  dropReply,
  type Hold,
  type KillWorld,
} from './support/kill-world.js';

const { repeats, movements, atOnce, limitMs } = sizes.killedGroups;
const buyers = 4;
const price = 1_000;
const remainingBalance = 500;
/** Purchases per buyer. The balance covers all of them except one. */
const purchasesEach = movements / buyers;
/**
 * Time in milliseconds for which the first group holds the lane. Later calls form the next group.
 */
const leadMs = 1_000;

type GroupPurchase = Omit<AskedRouted, 'requestId'>;

describe(`kill -9 with ${movements} movements in a group, ${repeats} times at each point`, function () {
  this.timeout(limitMs);
  let world: KillWorld;
  const healed: (() => Promise<void>)[] = [];

  before(async () => {
    world = await startKillWorld();
  });
  after(() => world.stop());

  const wallets = 'wallets';
  itSurvivesKill('before its first command', holdBefore('find', wallets), 'nothing');
  itSurvivesKill('after the wallets were read', holdBefore('update', wallets), 'nothing');
  itSurvivesKill('after the wallets were updated', dropReply('update', wallets), 'nothing');
  itSurvivesKill('after the purchases were inserted', dropReply('insert', 'transactions'), 'nothing');
  itSurvivesKill('before the commit is sent', dropReply('insert', 'journals'), 'nothing');
  itSurvivesKill(
    'while the commit is on its way',
    holdBefore('commitTransaction', null, { ms: 1_500 }),
    'all or nothing',
  );
  itSurvivesKill('after the commit, before its reply', dropReply('commitTransaction', null), 'all');

  it('after all kills everything is done once, and the ledger is verified', () =>
    world.expectAllDone(healed, limitMs));

  function itSurvivesKill(point: string, hold: Hold, written: 'all' | 'nothing' | 'all or nothing'): void {
    it(`${point}: a repeated call returns the correct result`, async () => {
      const all = Array.from({ length: repeats }, (_, index) => index);
      await inParallel(all, atOnce, async () => {
        const { accounts, leader, group } = await ask();
        await world.withVictim([], async (victim) => {
          const isLeading = await holdBefore('commitTransaction', null, { ms: leadMs })(victim);
          void victim.service.call('buyRouted', { ...leader, requestId: callIds.victim });
          await isLeading();
          const isThere = await hold(victim);
          group.forEach(
            (asked) => void victim.service.call('buyRouted', { ...asked, requestId: callIds.victim }),
          );
          await isThere();
        });
        const stored = await world.stack.db
          .collection('transactions')
          .countDocuments({ refId: { $in: group.map(({ refId }) => refId) } });
        if (written === 'nothing') {
          expect(stored).to.equal(0);
        } else {
          // The balance of each buyer does not cover one purchase. On a slow machine the last
          // purchases miss the group.
          expect(stored).to.be.at.most(movements - buyers - 1);
          expect(stored).to.be.at.least(written === 'all' ? 1 : 0);
        }
        await repeat([leader, ...group]);
        healed.push(...accounts.map((accountId) => () => expectHealed(accountId)));
      });
    });
  }

  async function ask(): Promise<{ accounts: string[]; leader: GroupPurchase; group: GroupPurchase[] }> {
    const accounts = await (
      await world.healthy()
    ).callOrThrow('openBuyersOfOneLane', {
      count: buyers,
      balance: (purchasesEach - 1) * price + remainingBalance,
    });
    const { productCode } = world.shop;
    const [leader, ...group] = Array.from({ length: purchasesEach }, () =>
      accounts.map((accountId) => ({ accountId, productCode, refId: uniqueRef() })),
    ).flat();
    return { accounts, leader: leader as GroupPurchase, group };
  }

  /** Repeats all calls concurrently, as the clients would. */
  async function repeat(all: GroupPurchase[]): Promise<void> {
    const refused = new Map<string, number>();
    await Promise.all(
      all.map(async (asked) => {
        const { heard, attempts } = await callUntilDefinite({ fleet: world.fleet, first: 0 }, (service) =>
          service.call('buyRouted', { ...asked, requestId: callIds.repeat }),
        );
        if (heard.ok) {
          expectSingleCreator(heard.value, { isOfRepeat: heard.value.madeBy === callIds.repeat, attempts });
        } else {
          expect(heard.refusal).to.equal('insufficient');
          refused.set(asked.accountId, (refused.get(asked.accountId) ?? 0) + 1);
        }
      }),
    );
    expect([...refused.values()], 'uncovered purchases per buyer').to.deep.equal(Array(buyers).fill(1));
  }

  async function expectHealed(accountId: string): Promise<void> {
    const found = await world.stack.db.collection('transactions').find({ accountId }).toArray();
    expect(found.map((each) => String(each['status']))).to.deep.equal(
      Array(purchasesEach - 1).fill('SUCCESS'),
    );
    // `seq` counts the deposit and the purchases.
    expect(await world.walletOf(accountId)).to.include({ balance: remainingBalance, seq: purchasesEach });
  }
});
