/** Permanent records and statements contain no data that a failover could roll back. */
import { expect } from 'chai';
import { createAccount } from '../../src/accounts/create-account.js';
import { requestAdjustment } from '../../src/adjustments/request-adjustment.js';
import { AuditModel, auditEntries } from '../../src/audit/audit.model.js';
import { auditCloses } from '../../src/audit/audit-close.model.js';
import { bySystem, recordAudit } from '../../src/audit/record-audit.js';
import { findLastClosedDay } from '../../src/money/closes/day-closes.js';
import { dayCloses } from '../../src/money/closes/day-close.model.js';
import { walletCloses, type WalletClose } from '../../src/money/closes/wallet-close.model.js';
import { journals } from '../../src/money/journals/journal.model.js';
import { buildWalletClose } from '../../src/reconciliation/closes/build-wallet-close.js';
import { closeAudit } from '../../src/reconciliation/closes/close-audit.js';
import { findRows } from '../../src/reconciliation/closes/close-ledger.js';
import { formatBusinessDay } from '../../src/shared/business-time.js';
import { newId } from '../../src/shared/ids.js';
import { openStatement } from '../../src/statements/statement.js';
import { eventually } from '../support/eventually.js';
import { endLag, lagNextCommit, skipWithoutFaults } from '../support/majority-lag.js';
import { useDatabase } from '../webhooks/support/database.js';

const operator = { actor: `operator:${newId()}`, from: null, reason: 'ticket 91' };
/** Lag in milliseconds. Longer than the test runs, but `endLag` can end it earlier. */
const lagMs = 60_000;

/**
 * Runs `read` while only the primary has the data of `write`.
 * @returns the results during the lag and after it.
 */
async function readBeforeAndAfter<T>(
  collection: string,
  steps: { write: () => Promise<unknown>; isWritten: () => Promise<unknown>; read: () => Promise<T> },
): Promise<[T, T]> {
  await lagNextCommit(collection, lagMs);
  const writing = steps.write();
  writing.catch(() => undefined);
  await eventually('the write is on the primary', steps.isWritten);
  const before = await steps.read();
  await endLag();
  // A write is stored even if the wait for its acknowledgement timed out.
  await Promise.allSettled([writing]);
  return [before, await steps.read()];
}

describe('reads while the majority lags', () => {
  before(function () {
    return skipWithoutFaults(this);
  });
  useDatabase();
  afterEach(() => endLag());

  const boundOfNow = () => {
    const now = new Date();
    return { day: formatBusinessDay(now), end: new Date(now.getTime() + 60_000), now };
  };
  /** Posts the first movement of a new account. */
  async function prepareFirstMovement() {
    const { account } = await createAccount({ username: `b${newId()}`, role: 'buyer' });
    return {
      accountId: account._id,
      write: () => requestAdjustment({ account, amount: 1_000 }, operator),
      isWritten: () => journals.findOne({ accountId: account._id }),
    };
  }

  it('closes a day without movements that are not majority-committed', async () => {
    const { accountId, ...movement } = await prepareFirstMovement();
    const rows = await readBeforeAndAfter(journals.collectionName, {
      ...movement,
      read: () => buildWalletClose(accountId, null, boundOfNow()),
    });
    expect(rows.map((row) => row?.lastSeq ?? null)).to.deep.equal([null, 1]);
  });

  it('shows no movement in a statement before it is majority-committed', async () => {
    const { accountId, ...movement } = await prepareFirstMovement();
    const period = { start: new Date(Date.now() - 60_000), end: new Date(Date.now() + 60_000) };
    const statements = await readBeforeAndAfter(journals.collectionName, {
      ...movement,
      read: () => openStatement(accountId, period),
    });
    expect(statements.map(({ lastSeq }) => lastSeq)).to.deep.equal([0, 1]);
  });

  it('closes a day without audit entries that are not majority-committed', async () => {
    const bound = boundOfNow();
    await dayCloses.insertOne({
      _id: bound.day,
      state: 'building',
      batches: 0,
      content: null,
      root: null,
      signature: null,
    });
    // After this call, the close writes only the new audit entry.
    expect(await closeAudit(bound, null)).to.equal(true);
    const id = newId();
    const subject = { kind: 'account' as const, id };
    const entryId = async () => (await AuditModel.findOne({ 'subject.id': id }))?._id;
    const covered = await readBeforeAndAfter(auditEntries.collectionName, {
      write: () => recordAudit(null, { ...bySystem, action: 'account.set', subject }),
      isWritten: entryId,
      async read() {
        await closeAudit(boundOfNow(), null);
        return auditCloses.countDocuments({ _id: (await entryId()) ?? '' });
      },
    });
    expect(covered).to.deep.equal([0, 1]);
  });

  it('includes no row in a root before the row is majority-committed', async () => {
    const day = '2020-01-01';
    const _id = `${day}:${newId()}`;
    const counts = await readBeforeAndAfter(walletCloses.collectionName, {
      write: () => walletCloses.insertOne({ _id, day } as WalletClose),
      isWritten: () => walletCloses.findOne({ _id }),
      read: async () => (await findRows(day).toArray()).length,
    });
    expect(counts).to.deep.equal([0, 1]);
  });

  it('reports a day as closed only after its close is majority-committed', async () => {
    const day = '2999-01-01';
    const closed = { state: 'closed' as const, batches: 0, content: null, root: 'x', signature: null };
    const days = await readBeforeAndAfter(dayCloses.collectionName, {
      write: () => dayCloses.insertOne({ _id: day, ...closed }),
      isWritten: () => dayCloses.findOne({ _id: day }),
      read: async () => (await findLastClosedDay())?._id ?? null,
    });
    expect(days).to.deep.equal([null, day]);
  });
});
