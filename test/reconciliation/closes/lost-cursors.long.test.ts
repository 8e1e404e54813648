/**
 * MongoDB drops a cursor after ten idle minutes, and drops all cursors when the primary steps down.
 */
import { expect } from 'chai';
import { getExistingAccount } from '../../../src/accounts/find-account.js';
import { createAccount } from '../../../src/accounts/create-account.js';
import { recordAudit } from '../../../src/audit/record-audit.js';
import { createDeposit } from '../../../src/deposits/create-deposit.js';
import { findLastClosedDay } from '../../../src/money/closes/day-closes.js';
import { closeDay } from '../../../src/reconciliation/closes/close-ledger.js';
import { verifyLedger } from '../../../src/reconciliation/ledger/verify-ledger.js';
import { newId } from '../../../src/shared/ids.js';
import { startFault } from '../../support/mongo-faults.js';
import { inParallel } from '../../support/purchases.js';
import { namespaceOf } from '../../money/support/debits.js';
import { useDatabase } from '../../webhooks/support/database.js';

/**
 * More than the first batch of a cursor holds (101), so that each cursor needs a getMore. Some
 * collections have more than a page of 1,000.
 */
const wallets = 130;
const deposits = 1_100;
const days = 120;
/**
 * The collections that the verification reads. In each of them one cursor is dropped, if any is
 * open.
 */
const collections = [
  'accounts',
  'wallets',
  'journals',
  'deposits',
  'audit',
  'auditCloses',
  'walletCloses',
  'dayCloses',
  'dailyTotals',
];

describe('ledger verify with lost cursors', function () {
  this.timeout(180_000);
  useDatabase();

  before(async () => {
    const buyers = await Promise.all(
      Array.from(
        { length: wallets },
        async () => (await createAccount({ username: `b${newId()}`, role: 'buyer' })).account._id,
      ),
    );
    const busy = buyers[wallets / 2] ?? '';
    const deposit = async (id: string) => {
      await createDeposit({ account: await getExistingAccount(id), amount: 1_000, refId: newId() });
    };
    await inParallel([...buyers, ...Array.from({ length: deposits }, () => busy)], 40, deposit);
    for (let entry = 0; entry < wallets; entry++) {
      const subject = { kind: 'account' as const, id: newId() };
      await recordAudit(null, { actor: 'operator:test', action: 'account.set', subject });
    }
    for (let day = 0; day < days; day++) {
      // Close future days. The first of them contains all entries so far.
      const at = new Date(Date.UTC(2030, 0, 1 + day));
      const bound = { day: at.toISOString().slice(0, 10), end: at, now: at };
      await closeDay(bound, await findLastClosedDay());
    }
    // No close covers this deposit.
    await deposit(busy);
  });

  for (const full of [false, true]) {
    it(`${full ? 'with --full ' : ''}continues and returns the same result`, async () => {
      const { closes, examined, findings } = await verifyLedger(() => undefined, { full });
      const faults = await Promise.all(
        collections.map((name) =>
          startFault({ kind: 'cursor-lost', commands: ['getMore'], namespace: namespaceOf(name), times: 1 }),
        ),
      );
      const interrupted = await verifyLedger(() => undefined, { full });
      const met = (await Promise.all(faults.map((fault) => fault.end()))).reduce(
        (sum, each) => sum + each,
        0,
      );
      process.stdout.write(`      ${met} cursors were dropped before a getMore\n`);
      expect(met).to.be.at.least(1);
      expect(findings).to.deep.equal([]);
      expect(interrupted.findings).to.deep.equal([]);
      expect(interrupted.closes).to.deep.equal(closes);
      expect(interrupted.examined).to.deep.equal(examined);
      expect(closes.days).to.equal(days);
    });
  }
});
