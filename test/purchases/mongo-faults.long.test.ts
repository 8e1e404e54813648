import { expect } from 'chai';
import { apiClient, uniqueRef, type Answer } from '../support/api-client.js';
import { expectLedgerToBalance, expectLedgerVerified } from '../support/ledger.js';
import { startFault, withFault, type FaultKind } from '../support/mongo-faults.js';
import {
  buyUntilAnswered,
  waitUntilAllFinal,
  expectExecutionsToMatch,
  inParallel,
  tryToBuy,
} from '../support/purchases.js';
import { startStack, type Stack } from '../support/stack.js';

const purchases = 60;
const atOnce = 12;
const commits = ['commitTransaction'];
const everything = [
  'find',
  'aggregate',
  'insert',
  'update',
  'delete',
  'findAndModify',
  'commitTransaction',
  'abortTransaction',
];

describe('purchases during MongoDB faults', function () {
  this.timeout(150_000);
  let stack: Stack;
  let key: string;

  before(async () => {
    stack = await startStack({ workers: ['all'] });
    key = (await stack.seed())['buyer']?.api_key ?? '';
    await apiClient(stack.baseUrl, key).post('/api/buyer/deposit', {
      amount: 100_000_000,
      ref_id: uniqueRef(),
    });
  });
  after(() => stack.stop());

  const faults: [kind: FaultKind, commands: string[], probability: number][] = [
    ['reply-lost', commits, 0.3],
    ['refused', commits, 0.3],
    ['unlabelled-error', commits, 0.3],
    ['write-concern-timeout', commits, 0.3],
    ['transient', commits, 0.3],
    ['write-conflict', commits, 0.3],
    ['pause', commits, 0.1],
    ['silence', commits, 0.3],
    ['silence', everything, 0.1],
    ['reply-lost', everything, 0.1],
    ['refused', everything, 0.1],
  ];
  for (const [kind, commands, probability] of faults) {
    const where = commands === commits ? 'at commits' : 'at every command';
    it(`${kind} ${where}: 200 or 503 with Retry-After, and each purchase is accepted once`, async () => {
      const known = await stack.db.collection('transactions').countDocuments();
      const answers: Answer[] = [];
      const accepted: string[] = [];
      const uri = stack.env['MONGODB_URI'] ?? '';
      const unanswered: string[] = [];
      const order = (refId: string) => ({
        key,
        number: '081234567890',
        refId,
        heard: (answer: Answer) => answers.push(answer),
      });
      // The fault affects random commands, so some purchases succeed only after it has ended.
      const tryThrice = async () => {
        const refId = uniqueRef('bought');
        for (let tries = 0; tries < 3; tries++) {
          const id = await tryToBuy(order(refId), stack.baseUrl);
          if (id !== null) {
            accepted.push(id);
            return;
          }
        }
        unanswered.push(refId);
      };
      await withFault({ kind, commands, probability, uri }, async ({ met }) => {
        await inParallel([...Array(purchases).keys()], atOnce, tryThrice);
        // On a busy machine groups are large and commits are few, so the fault may not have
        // affected a command yet.
        while ((await met()) === 0 && accepted.length < 5 * purchases) {
          await inParallel([...Array(atOnce).keys()], atOnce, tryThrice);
        }
      });
      await inParallel(unanswered, atOnce, async (refId) => {
        accepted.push(await buyUntilAnswered(order(refId), () => stack.baseUrl));
      });
      for (const { status, headers, body } of answers.filter((each) => each.status !== 200)) {
        expect([status, body.code], JSON.stringify(body)).to.deep.equal([503, '03']);
        expect(Number(headers['retry-after'])).to.be.greaterThan(0);
      }
      expect(new Set(accepted).size).to.equal(accepted.length);
      expect(await stack.db.collection('transactions').countDocuments()).to.equal(known + accepted.length);
    });
  }

  it('a new process whose first cache reads get no reply responds within 20 s', async () => {
    const web = await stack.startWeb();
    const uri = stack.env['MONGODB_URI'] ?? '';
    const cachedCollections = ['apiKeys', 'accounts', 'products', 'offers', 'providerStates'];
    const faults = await Promise.all(
      cachedCollections.map((name) =>
        startFault({
          kind: 'silence',
          commands: ['find'],
          namespace: `${stack.db.databaseName}.${name}`,
          uri,
        }),
      ),
    );
    const body = { code: 'S10', customer_number: '081234567890', ref_id: uniqueRef() };
    const startedMs = performance.now();
    const { status } = await apiClient(web.url, key).post('/api/buyer/transaction', body);
    const tookMs = performance.now() - startedMs;
    const met = await Promise.all(faults.map((each) => each.end()));
    expect(status).to.be.oneOf([200, 503]);
    expect(tookMs).to.be.lessThan(20_000);
    expect(met.reduce((sum, each) => sum + each)).to.be.greaterThan(2);
  });

  // Run one check after all faults, because the sweeps need some seconds to find jobs that workers
  // lost.
  it('all purchases are final, executed once, and the ledger is verified', async () => {
    await waitUntilAllFinal(stack, 120_000);
    await expectExecutionsToMatch(stack);
    await expectLedgerToBalance(stack);
    await expectLedgerVerified(stack);
  });
});
