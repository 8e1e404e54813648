/** Settlements that operators pay by bank transfer, and the limits of withdrawals. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { env } from '../../config/env.js';
import { readHolidays } from '../../config/holidays.js';
import { createAccount } from '../../src/accounts/create-account.js';
import type { Account } from '../../src/accounts/account.model.js';
import { requestAdjustment } from '../../src/adjustments/request-adjustment.js';
import { AuditModel } from '../../src/audit/audit.model.js';
import { postSellerCredits } from '../../src/money/credits/seller-credits.js';
import { getWallet } from '../../src/money/wallets/wallet-balance.js';
import { createOperator } from '../../src/operators/manage-operators.js';
import { fulfilPurchase } from '../../src/purchases/fulfil/fulfil-purchase.js';
import { reverseByOperator } from '../../src/purchases/review/reverse-by-operator.js';
import { verifyLedger } from '../../src/reconciliation/ledger/verify-ledger.js';
import { claimSettlement } from '../../src/settlements/claim-settlement.js';
import { completeSettlement, failSettlement, payOut } from '../../src/settlements/pay-out.js';
import { importHolidays } from '../../src/settlements/import-holidays.js';
import { requestSettlement } from '../../src/settlements/request-settlement.js';
import { SettlementModel, type Settlement } from '../../src/settlements/settlement.model.js';
import { formatBusinessDay, getNextBusinessDayAt } from '../../src/shared/business-time.js';
import { InsufficientBalanceError, type AppError } from '../../src/shared/errors.js';
import { newId } from '../../src/shared/ids.js';
import { openShop } from '../jobs/sold-purchases.js';
import { sendJson, startPlayServer } from '../providers/play-server.js';
import { withFault } from '../support/mongo-faults.js';
import { topup } from '../support/topup.js';
import { useDatabase } from '../webhooks/support/database.js';

const bankAccount = { bankCode: '014', accountNumber: '1234567890', accountName: 'PT Pulsa Jaya' };
const budi = { actor: 'operator:budi', from: null, reason: 'BCA transfer 1' };
const dewi = { actor: 'operator:dewi', from: null, reason: 'BCA transfer 2' };
const amount = 60_000;

describe('settlements paid by operators', () => {
  useDatabase();
  const { PAYOUT_MODE: before } = env;
  beforeEach(() => (env.PAYOUT_MODE = 'manual'));
  afterEach(() => (env.PAYOUT_MODE = before));

  async function newSeller(balance = 900_000): Promise<Account> {
    const provider = { kind: 'simulator' as const, baseUrl: null, username: 'x', secret: 'y' };
    const { account } = await createAccount({ username: `s${newId()}`, role: 'seller', provider });
    await requestAdjustment({ account, amount: balance }, budi);
    return account;
  }
  async function requestSettlementOf(): Promise<Settlement> {
    const account = await newSeller();
    const { settlement } = await requestSettlement({ account, amount, bankAccount, refId: newId() });
    await payOut(settlement._id, account._id);
    return settlement;
  }
  const read = (id: string) => SettlementModel.findById(id).orFail().lean<Settlement>();
  /** Returns the error message in the form that the command line shows. */
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: unknown) => `${(error as AppError).message} ${(error as AppError).atCommandLine ?? ''}`,
    );

  it('cannot be completed without a claim; the refusal names the claim command', async () => {
    const { _id } = await requestSettlementOf();
    const why = await refusal(completeSettlement(_id, budi));
    expect(why).to.include(`topup settlement claim ${_id}`);
    expect(await read(_id)).to.include({ status: 'processing', claimedBy: null });
  });

  it('are claimed by one of 10 concurrent operators, who completes them', async () => {
    const { _id } = await requestSettlementOf();
    const operators = Array.from({ length: 10 }, (_, index) => ({ ...budi, actor: `operator:o${index}` }));
    const refusals = await Promise.all(operators.map((by) => refusal(claimSettlement(_id, by))));
    const winners = operators.filter((_, index) => refusals[index] === null);
    expect(winners).to.have.length(1);
    const ended = await Promise.all(operators.map((by) => refusal(completeSettlement(_id, by))));
    expect(ended.filter((each) => each === null)).to.have.length(1);
    expect(await AuditModel.countDocuments({ 'subject.id': _id, action: 'settlement.completed' })).to.equal(
      1,
    );
    expect(await AuditModel.findOne({ 'subject.id': _id, action: 'settlement.completed' }).lean()).to.include(
      {
        actor: winners[0]?.actor,
      },
    );
  });

  it('belong to their claimant until a take-over with a reason', async () => {
    const { _id } = await requestSettlementOf();
    expect((await claimSettlement(_id, budi)).changed).to.equal(true);
    expect((await claimSettlement(_id, budi)).changed).to.equal(false);
    for (const attempt of [
      () => claimSettlement(_id, dewi),
      () => completeSettlement(_id, dewi),
      () => failSettlement(_id, 'no such account', dewi),
    ]) {
      expect(await refusal(attempt())).to.match(/operator:budi claimed .* --take-over/);
    }
    expect(await refusal(claimSettlement(_id, { ...dewi, reason: null }, { takeOver: true }))).to.match(
      /reason/,
    );
    await claimSettlement(_id, dewi, { takeOver: true });
    expect(await refusal(completeSettlement(_id, budi))).to.match(/operator:dewi claimed/);
    expect(await completeSettlement(_id, dewi)).to.include({ status: 'completed' });
    const entry = await AuditModel.findOne({
      'subject.id': _id,
      action: 'settlement.claim',
      actor: dewi.actor,
    });
    expect(entry?.before).to.deep.include({ claimedBy: budi.actor });
    expect(entry?.reason).to.equal(dewi.reason);
  });

  it('are either taken over or completed when both happen at once', async () => {
    for (let round = 0; round < 5; round++) {
      const { _id } = await requestSettlementOf();
      await claimSettlement(_id, budi);
      const [completed, taken] = await Promise.all([
        refusal(completeSettlement(_id, budi)),
        refusal(claimSettlement(_id, dewi, { takeOver: true })),
      ]);
      expect([completed, taken].filter((each) => each === null)).to.have.length(1);
      expect((await read(_id)).status).to.equal(completed === null ? 'completed' : 'processing');
    }
  });

  it('are not paid by a worker after a claim, even in another mode', async () => {
    const claimed = await requestSettlementOf();
    await claimSettlement(claimed._id, budi);
    const free = await requestSettlementOf();
    env.PAYOUT_MODE = 'simulated';
    await payOut(claimed._id, claimed.accountId);
    await payOut(free._id, free.accountId);
    expect(await read(claimed._id)).to.include({ status: 'processing', nextActionAt: null });
    expect(await read(free._id)).to.include({ status: 'completed' });
  });

  it('need a claim regardless of the PAYOUT_MODE of the shell', async () => {
    const { _id, accountId } = await requestSettlementOf();
    await payOut(_id, accountId);
    env.PAYOUT_MODE = 'simulated';
    expect(await refusal(completeSettlement(_id, budi))).to.match(/is not claimed/);
    const { findings } = await verifyLedger(undefined, { full: true });
    expect(findings.filter(({ subject }) => subject === `settlement ${_id}`)).to.deep.equal([]);
  });

  it('have one final state; repeats exit with 0 and conflicts with 1', async () => {
    await createOperator({ username: 'budi', role: 'admin', password: 'a password of budi' }, budi);
    const by = ['--as', 'budi', '--reason', 'at the bank'];
    const run = (...args: string[]) => topup(['settlement', ...args, ...by, '--json'], process.env);
    const [paid, failed] = [await requestSettlementOf(), await requestSettlementOf()];
    expect((await run('complete', paid._id)).code, 'complete without a claim').to.equal(1);
    expect((await run('claim', paid._id)).json()).to.include({ claimed_by: 'operator:budi', changed: true });
    const listed = (await topup(['settlement', 'list', '--json'], process.env)).json<
      Record<string, unknown>[]
    >();
    const row = listed.find(({ id }) => id === paid._id);
    expect(row).to.include({ claimed_by: 'operator:budi', bank_code: '014', account_name: 'PT Pulsa Jaya' });
    expect(row?.['username']).to.match(/^s/);
    expect(row?.['claimed_at']).to.be.a('string');
    const named = ['--bank-reference', 'BCA 4711', ...by];
    const completed = await topup(['settlement', 'complete', paid._id, ...named], process.env);
    expect(await read(paid._id)).to.include({ status: 'completed', bankReference: 'BCA 4711' });
    expect(completed.stdout).to.include('paid by operator:budi');
    expect((await run('complete', paid._id)).code, 'repeated complete').to.equal(0);
    const after = await run('fail', paid._id);
    expect(after.code).to.equal(1);
    expect(after.stdout + after.stderr).to.include('is completed; it cannot become failed');
    expect((await run('fail', failed._id)).code).to.equal(0);
    expect((await run('fail', failed._id)).code, 'repeated fail').to.equal(0);
    expect((await run('complete', failed._id)).code).to.equal(1);
    expect((await run('claim', failed._id)).code).to.equal(1);
    const unknown = await topup(['settlement', 'claim', paid._id, '--as', 'nobody', '--json'], process.env);
    expect(unknown.code).to.equal(1);
  });

  it('are created once after a lost commit reply without a ref_id', async () => {
    const account = await newSeller();
    const fault = { commands: ['commitTransaction'], kind: 'reply-lost' as const, probability: 1 };
    const why = await withFault(fault, () =>
      refusal(requestSettlement({ account, amount, bankAccount, refId: null })),
    );
    expect(why)
      .to.match(/outcome of this settlement request is unknown/)
      .and.to.include('pending_settlement');
    expect(await SettlementModel.countDocuments({ accountId: account._id })).to.equal(1);
    const repeat = { account, amount, bankAccount, refId: null };
    expect(await refusal(requestSettlement(repeat)), 'repeat').to.include('send a ref_id');
    const others = { amount: amount + 1, refId: newId() };
    for (const [field, value] of Object.entries(others)) {
      expect((await requestSettlement({ ...repeat, [field]: value })).created, field).to.equal(true);
    }
    expect(await getWallet(account._id)).to.include({ held: 3 * amount + 1 });
  });

  it('without a ref_id are two settlements if the first response was not a 503', async () => {
    const account = await newSeller();
    const request = { account, amount, bankAccount, refId: null };
    const made = await Promise.all([requestSettlement(request), requestSettlement(request)]);
    expect(made.map(({ created }) => created)).to.deep.equal([true, true]);
    expect(await getWallet(account._id)).to.include({ held: 2 * amount });
  });

  it('cannot withdraw money of a reversed sale before the reversal is posted', async () => {
    const server = await startPlayServer((call, response) => {
      const ref_id = call.url.searchParams.get('ref_id');
      sendJson(response, 200, { ref_id, status: '00', transaction_status: 'success', message: 'Success' });
    });
    try {
      const { seller, buy } = await openShop(server.url);
      await requestAdjustment({ account: seller, amount: 100_000 }, budi);
      const { _id, accountId } = await buy();
      await fulfilPurchase({ purchaseId: _id, accountId });
      await postSellerCredits(seller._id);
      expect(await getWallet(seller._id)).to.include({ balance: 100_980 });
      await reverseByOperator(_id, budi);
      expect((await getWallet(seller._id)).balance, 'balance without the reversed sale').to.equal(100_980);
      const all = { account: seller, amount: 100_980, bankAccount, refId: null };
      const error = await requestSettlement(all).catch((each: unknown) => each);
      expect(error).to.be.an.instanceOf(InsufficientBalanceError);
      const { settlement } = await requestSettlement({ ...all, amount: 100_000 });
      expect(settlement.status).to.equal('pending');
    } finally {
      await server.stop();
    }
  });

  it('leave a valid ledger', async () => {
    expect((await verifyLedger()).findings).to.deep.equal([]);
  });

  it('skip imported holidays without a restart; a bad list is refused', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'holidays-'));
    const { HOLIDAYS_FILE: usual } = env;
    env.HOLIDAYS_FILE = path.join(folder, 'list.json');
    const given = path.join(folder, 'given.json');
    const newYear = { day: '2026-01-01', name: 'Tahun Baru' };
    try {
      await writeFile(env.HOLIDAYS_FILE, '[{"day": "2031-05-01", "name": ""}]');
      const free = getNextBusinessDayAt(17);
      const taken = formatBusinessDay(free);
      await writeFile(given, JSON.stringify([{ day: taken, name: 'Hari libur' }]));
      await importHolidays(given, budi);
      const moved = getNextBusinessDayAt(17);
      expect(formatBusinessDay(moved) > taken).to.equal(true);
      const about = { action: 'holidays.import', actor: 'operator:budi', 'after.added': taken };
      expect(await AuditModel.countDocuments(about)).to.equal(1);
      for (const [wrong, why] of [
        ['[{"day": "2026-02-30", "name": ""}]', 'not a calendar date'],
        ['["2026-01-01"]', '"[0]" must be an object with a day and a name'],
        [JSON.stringify([newYear, newYear]), '2026-01-01 occurs twice'],
        ['{"day": "2026-01-01"}', 'must be an array'],
        ['[]', 'it contains no holidays'],
        ['no', 'JSON'],
      ] as const) {
        await writeFile(given, wrong);
        expect(await refusal(importHolidays(given, budi))).to.include(why);
      }
      expect(getNextBusinessDayAt(17)).to.deep.equal(moved);
      expect(readHolidays().list.map(({ day }) => day)).to.have.members([taken, '2031-05-01']);
    } finally {
      env.HOLIDAYS_FILE = usual;
      await rm(folder, { recursive: true });
    }
    const decreed = readHolidays().list.filter(({ day }) => day.startsWith('2026-'));
    expect(decreed).to.have.length(25);
  });
});
