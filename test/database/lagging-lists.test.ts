/**
 * Every call reports a final state only after a majority holds it, because a failover can roll back
 * a write that only the primary has.
 */
import { expect } from 'chai';
import type { Collection } from 'mongodb';
import { createAccount } from '../../src/accounts/create-account.js';
import type { Account, Role } from '../../src/accounts/account.model.js';
import { adjustments, toStored as storedAdjustment } from '../../src/adjustments/adjustment.model.js';
import { listAdjustments } from '../../src/adjustments/list-adjustments.js';
import { listBuyerDeposits } from '../../src/api/buyer/deposits.js';
import { getSettlement, listSettlements as listOwnSettlements } from '../../src/api/seller/settlements.js';
import { listAdjustmentsCall } from '../../src/console/adjustments/list-adjustments.js';
import { listDeposits as listDepositsCall } from '../../src/console/deposits/deposits.js';
import { listSettlements as listSettlementsCall } from '../../src/console/settlements/list-settlements.js';
import { listBankLines } from '../../src/deposits/bank/bank-lines.js';
import { bankLines } from '../../src/deposits/bank/bank-line.model.js';
import { deposits, toStored as storedDeposit } from '../../src/deposits/deposit.model.js';
import { listDeposits } from '../../src/deposits/list-deposits.js';
import type { Report } from '../../src/reports/report.model.js';
import { readReportPages } from '../../src/reports/report-rows.js';
import { listSettlements } from '../../src/settlements/find-settlement.js';
import { settlements, toStored as storedSettlement } from '../../src/settlements/settlement.model.js';
import { newId } from '../../src/shared/ids.js';
import { endLag, lagNextCommit, skipWithoutFaults } from '../support/majority-lag.js';
import { eventually } from '../support/eventually.js';
import { useDatabase } from '../webhooks/support/database.js';

/** Lag in milliseconds. Longer than the test runs. */
const longLagMs = 30_000;

type ListReader = (id: string, account: Account) => Promise<unknown>;

describe('final states while the majority lags', () => {
  before(function () {
    return skipWithoutFaults(this);
  });
  useDatabase();
  afterEach(() => endLag());

  const kinds: {
    of: string;
    role: Role;
    add: (id: string, account: Account) => Promise<unknown>;
    collection: () => Collection<{ _id: string; status: string }>;
    begin: string;
    end: string;
    shown: Record<string, ListReader>;
  }[] = [
    {
      of: 'settlement',
      role: 'seller',
      add: addSettlement,
      collection: () => settlements as never,
      begin: 'processing',
      end: 'failed',
      shown: {
        'GET of the settlement': async (id, account) =>
          runOperation(getSettlement, { account, params: { id } }),
        "the seller's list": async (_id, account) =>
          firstOf(await runOperation(listOwnSettlements, { account, query: { limit: 10 } }), 'settlements'),
        "the console's list": async (_id, { username: account }) =>
          firstOf(
            await runOperation(listSettlementsCall, { query: { status: 'all', account, limit: 10 } }),
            'settlements',
          ),
        'the CLI list': async (id, { _id: accountId }) =>
          (await listSettlements({ statuses: ['processing', 'failed'], accountId, limit: 10 })).find(
            (each) => each._id === id,
          ),
      },
    },
    {
      of: 'deposit',
      role: 'buyer',
      add: addDeposit,
      collection: () => deposits as never,
      begin: 'pending',
      end: 'completed',
      shown: {
        "the buyer's list": async (_id, account) =>
          firstOf(await runOperation(listBuyerDeposits, { account, query: { limit: 10 } }), 'deposits'),
        "the console's list": async (_id, { username: account }) =>
          firstOf(
            await runOperation(listDepositsCall, { query: { status: 'all', account, limit: 10 } }),
            'deposits',
          ),
        'the CLI list': async (id, { _id: accountId }) =>
          (await listDeposits({ accountId, limit: 10 })).find((each) => each._id === id),
        'a report': async (_id, { _id: accountId }) => rowOfReport(accountId),
      },
    },
    {
      of: 'adjustment',
      role: 'buyer',
      add: addAdjustment,
      collection: () => adjustments as never,
      begin: 'pending',
      end: 'completed',
      shown: {
        "the console's list": async (_id, { username: account }) =>
          firstOf(
            await runOperation(listAdjustmentsCall, { query: { status: 'all', account, limit: 10 } }),
            'adjustments',
          ),
        'the CLI list': async (id, { _id: accountId }) =>
          (await listAdjustments({ accountId, limit: 10 })).find((each) => each._id === id),
      },
    },
    {
      of: 'bank line',
      role: 'buyer',
      add: addBankLine,
      collection: () => bankLines as never,
      begin: 'open',
      end: 'used',
      shown: {
        'the list of bank lines': async (id) => {
          const [open, used] = await Promise.all([listOf('open'), listOf('used')]);
          return [...open, ...used].find((each) => each._id === id);
        },
      },
    },
  ];

  for (const { of, role, add, collection, begin, end, shown } of kinds) {
    for (const [what, look] of Object.entries(shown)) {
      it(`of a ${of} are not reported by ${what}`, async () => {
        const { account } = await createAccount({ username: `a${newId()}`, role });
        const id = newId();
        await add(id, account);
        await lagNextCommit(collection().collectionName, longLagMs);
        const ending = collection().updateOne({ _id: id }, { $set: { status: end } });
        await eventually('the end is on the primary', () => collection().findOne({ _id: id, status: end }));
        expect(await look(id, account)).to.include({ status: begin });
        await endLag();
        await ending;
        expect(await look(id, account)).to.include({ status: end });
      });
    }
  }
});

interface ListOperation {
  handle: (call: never) => Promise<unknown>;
}

async function runOperation(operation: object, call: object): Promise<Record<string, unknown>> {
  const given = { query: {}, by: { actor: 'operator:a', from: null }, ...call };
  const answer = (await (operation as ListOperation).handle(given as never)) as Record<string, unknown>;
  return (answer['data'] ?? answer) as Record<string, unknown>;
}

function firstOf(answer: Record<string, unknown>, name: string): unknown {
  return (answer[name] as unknown[])[0];
}

async function listOf(status: 'open' | 'used') {
  return (await listBankLines({ status, limit: 100 })).lines;
}

async function rowOfReport(accountId: string): Promise<unknown> {
  const period = { start: new Date(Date.now() - 3_600_000), end: new Date(Date.now() + 3_600_000) };
  for await (const [first] of readReportPages({
    accountId,
    role: 'buyer',
    type: 'deposit',
    period,
  } as Report)) {
    return first?.row;
  }
  return undefined;
}

function addSettlement(id: string, { _id: accountId }: Account) {
  return settlements.insertOne(
    storedSettlement({
      _id: id,
      accountId,
      refId: newId(),
      amount: 50_000,
      fee: 0,
      netAmount: 50_000,
      bankAccount: { bankCode: '014', accountNumber: '1234567890', accountName: 'PT Pulsa' },
      status: 'processing',
      needsApproval: false,
      reason: null,
      claimedBy: null,
      claimedAt: null,
      estimatedCompletion: new Date(),
      epoch: 0,
      nextActionAt: null,
      createdAt: new Date(),
      finalAt: null,
    }),
  );
}

function addDeposit(id: string, { _id: accountId }: Account) {
  return deposits.insertOne(
    storedDeposit({
      _id: id,
      accountId,
      refId: newId(),
      amount: 5_000,
      status: 'pending',
      balanceBefore: 0,
      balanceAfter: 0,
      createdAt: new Date(),
      completedAt: null,
    }),
  );
}

function addAdjustment(id: string, { _id: accountId }: Account) {
  return adjustments.insertOne(
    storedAdjustment({
      _id: id,
      accountId,
      amount: 5_000,
      reason: 'a test',
      status: 'pending',
      requestedBy: 'operator:b',
      decidedBy: null,
      balanceAfter: null,
      createdAt: new Date(),
      decidedAt: null,
    }),
  );
}

function addBankLine(id: string) {
  return bankLines.insertOne({
    _id: id,
    key: newId(),
    day: '2099-01-01',
    amount: 5_000,
    description: 'x',
    status: 'open',
    depositId: null,
    decided: null,
    file: 'x',
    createdAt: new Date(),
  } as never);
}
