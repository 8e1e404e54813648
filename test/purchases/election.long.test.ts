import { expect } from 'chai';
import { apiClient, uniqueRef, type Answer } from '../support/api-client.js';
import { expectLedgerToBalance, expectLedgerVerified } from '../support/ledger.js';
import { withFault, withProxy } from '../support/mongo-faults.js';
import { startPrivateMongo, type Outage } from '../support/outage.js';
import { buyUntilAnswered, waitUntilAllFinal, expectExecutionsToMatch } from '../support/purchases.js';
import type { RunningProgram } from '../support/start-program.js';
import { startStack, type Stack } from '../support/stack.js';
import { runAtRate } from '../support/run-at-rate.js';

const perSecond = 15;
const purchases = 200;
const electionMs = 8_000;

describe('a MongoDB election during purchases', function () {
  this.timeout(180_000);
  let stack: Stack;
  let mongo: Outage;
  let key: string;
  let worker: RunningProgram;

  before(async () => {
    mongo = await withProxy(await startPrivateMongo({ lockLifetimeS: 2 }));
    stack = await startStack({ env: { MONGODB_URI: mongo.url } });
    worker = await stack.startWorker('all');
    key = (await stack.seed())['buyer']?.api_key ?? '';
    await apiClient(stack.baseUrl, key).post('/api/buyer/deposit', {
      amount: 11_000 * purchases,
      ref_id: uniqueRef(),
    });
  });
  after(async () => {
    await stack.stop();
    await mongo.stop();
  });

  it(`causes only 503 with Retry-After and loses no purchase (${electionMs / 1_000} s, from a commit on)`, async () => {
    const answers: Answer[] = [];
    const number = '081234567890';
    const buy = () =>
      buyUntilAnswered({ key, number, heard: (answer) => answers.push(answer) }, () => stack.baseUrl);
    const bought: Promise<string>[] = [];
    const buyAll = async () => {
      await runAtRate(perSecond, purchases, (index) => {
        bought[index] = buy();
        // The rejection is handled where the promise is awaited. It may occur before that, so it
        // must not count as unhandled.
        bought[index].catch(() => undefined);
      });
      return Promise.all(bought);
    };
    const uri = stack.env['MONGODB_URI'] ?? '';
    const accepted = await withFault(
      { commands: ['commitTransaction'], kind: 'step-down', ms: electionMs, uri },
      buyAll,
    );

    const refused = answers.filter((each) => each.status !== 200);
    expect(refused, 'calls that met the election').to.not.have.length(0);
    for (const { status, headers, body } of refused) {
      expect([status, body.code], JSON.stringify(body)).to.deep.equal([503, '03']);
      expect(Number(headers['retry-after'])).to.be.greaterThan(0);
    }
    expect(new Set(accepted).size).to.equal(purchases);
    await waitUntilAllFinal(stack, 90_000);
    expect(await stack.db.collection('transactions').countDocuments()).to.equal(purchases);
    await expectExecutionsToMatch(stack);
    await expectLedgerToBalance(stack);
    await expectLedgerVerified(stack);
    expect(worker.process.exitCode).to.equal(null);
  });
});
