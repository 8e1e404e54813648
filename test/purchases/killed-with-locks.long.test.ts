import { expect } from 'chai';
import { apiClient, uniqueRef, type Answer } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { expectLedgerToBalance, expectLedgerVerified } from '../support/ledger.js';
import { withFault, withProxy } from '../support/mongo-faults.js';
import { startPrivateMongo, type Outage } from '../support/outage.js';
import { startStack, type Stack } from '../support/stack.js';

/** Seconds until a lock expires. Longer than any call waits. */
const lockLifetimeS = 5;

describe('a process killed while it holds a wallet lock', () => {
  let stack: Stack;
  let mongo: Outage;
  let key: string;

  before(async () => {
    mongo = await withProxy(await startPrivateMongo({ lockLifetimeS }));
    stack = await startStack({ workers: ['all'], env: { MONGODB_URI: mongo.url } });
    key = (await stack.seed())['buyer']?.api_key ?? '';
    await apiClient(stack.baseUrl, key).post('/api/buyer/deposit', {
      amount: 1_000_000,
      ref_id: uniqueRef(),
    });
  });
  after(async () => {
    await stack.stop();
    await mongo.stop();
  });

  it('causes 503 with Retry-After until the lock ends, then one debit per purchase', async () => {
    const doomed = await stack.startWeb();
    const buy = (url: string, ref_id: string) =>
      apiClient(url, key).post('/api/buyer/transaction', {
        code: 'S10',
        customer_number: '081234567890',
        ref_id,
      });
    const refs = [uniqueRef('killed'), uniqueRef('other')];
    const uri = stack.env['MONGODB_URI'] ?? '';
    const answers: Answer[] = [];
    // The commit is held on the way to the database until its transaction has long expired.
    const pause = { kind: 'pause', commands: ['commitTransaction'], ms: 20_000, uri } as const;
    await withFault(pause, async ({ met }) => {
      const lost = buy(doomed.url, refs[0] ?? '').catch(() => null);
      await eventually('the commit is in flight', async () => (await met()) > 0);
      await doomed.stop('SIGKILL');
      expect(await lost).to.equal(null);
      await Promise.all(
        refs.map((ref) =>
          eventually(
            `${ref} is accepted`,
            async () => {
              const answer = await buy(stack.baseUrl, ref);
              answers.push(answer);
              return answer.status !== 503;
            },
            30_000,
          ),
        ),
      );
    });
    const refused = answers.filter((each) => each.status !== 200);
    expect(refused, 'calls that met the lock').to.not.have.length(0);
    for (const { status, headers, body } of refused) {
      expect([status, body.code], JSON.stringify(body)).to.deep.equal([503, '03']);
      expect(Number(headers['retry-after'])).to.be.greaterThan(0);
    }
    const transactions = stack.db.collection('transactions');
    await eventually('both are fulfilled', async () => {
      const stored = await transactions.find({ refId: { $in: refs } }).toArray();
      return stored.length === 2 && stored.every((each) => each['status'] === 'SUCCESS');
    });
    await expectLedgerToBalance(stack);
    await expectLedgerVerified(stack);
  });
});
