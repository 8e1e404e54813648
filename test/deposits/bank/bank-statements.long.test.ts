/** Bank statements that pay pending deposits: preview, confirmation, and lines that remain. */
import { expect } from 'chai';
import { DateTime } from 'luxon';
import type { BankLine } from '../../../src/deposits/bank/bank-line.model.js';
import { callerAs, reason, type Caller } from '../../console/support/console-caller.js';
import { startOperatedStack, type OperatedStack } from '../../console/support/operated-stack.js';
import { apiClient, uniqueRef } from '../../support/api-client.js';
import { expectLedgerToBalance, expectLedgerVerified } from '../../support/ledger.js';
import { encoded, createUniqueAmount, statementOf, type Plan, type StatementLine } from './statement.js';

describe('bank statements', function () {
  this.timeout(120_000);
  let shop: OperatedStack;
  let caller: Caller;
  let other: Caller;

  before(async () => {
    shop = await startOperatedStack();
    [caller, other] = [await callerAs(shop, 'finance'), await callerAs(shop, 'admin')];
  });
  after(() => shop.stack.stop());

  const preview = (...lines: StatementLine[]): Promise<Plan> =>
    caller.ask('previewBankStatement', '/bank-statements/preview', { file: encoded(statementOf(...lines)) });
  const matchesOf = async (...lines: StatementLine[]) =>
    (await preview(...lines)).lines.map(({ match }) => match);
  const bodyOf = (lines: StatementLine[], fingerprint: string, more: object = {}) => ({
    file: encoded(statementOf(...lines)),
    name: 'bca.csv',
    fingerprint,
    reason,
    by_reference: true,
    ...more,
  });
  async function confirm(lines: StatementLine[], more: object = {}) {
    const { fingerprint } = await preview(...lines);
    return caller.ask('confirmBankStatement', '/bank-statements', bodyOf(lines, fingerprint, more));
  }
  const pending = (amount = createUniqueAmount()) =>
    shop.askForDeposit(amount).then((each) => ({ ...each, amount }));
  const paying = ({ refId, amount }: { refId: string; amount: number }, days = 0): StatementLine => ({
    amount,
    days,
    text: `TRSF E-BANKING CR 2311/FTSCY/WS95031 ${refId.toUpperCase()} BUDI SANTOSO`,
  });
  const statusOf = async (id: string) =>
    (await shop.stack.db.collection<{ _id: string; status: string }>('deposits').findOne({ _id: id }))
      ?.status;
  const credits = (id: string) =>
    shop.stack.db.collection('journals').countDocuments({ kind: 'deposit', subjectId: id });
  const findLines = (amount: number) =>
    shop.stack.db.collection<BankLine>('bankLines').find({ amount }).sort({ _id: 1 }).toArray();

  it('confirms a named deposit once; a preview changes nothing, a repeat is "used"', async () => {
    const [paid, unpaid] = [await pending(), await pending()];
    const lines = [paying(paid), { amount: 77_777, text: 'BUNGA' }];
    const plan = await preview(...lines);
    expect(plan.matches).to.include({ named: 0, referenced: 1, amount: 0, none: 1 });
    expect(plan).to.include({ amount_named: 0, amount_referenced: paid.amount, amount_by_amount: 0 });
    expect(plan.lines[0]).to.deep.include({ line: 3, match: 'referenced', amount: paid.amount });
    expect(plan.lines[0]?.deposits).to.deep.equal([
      { id: paid.id, ref_id: paid.refId, status: 'pending', account: 'buyer' },
    ]);
    expect(await findLines(paid.amount)).to.deep.equal([]);
    expect(await confirm(lines)).to.deep.equal({
      confirmed: 1,
      stood: 0,
      kept: 2,
      corrected: 0,
      left_found: 0,
      left: [],
    });
    expect([await statusOf(paid.id), await statusOf(unpaid.id)]).to.deep.equal(['completed', 'pending']);
    expect(await credits(paid.id)).to.equal(1);
    await caller.expectAudited(paid.id, 'deposit.confirm');
    const [line] = await findLines(paid.amount);
    expect(line).to.include({ status: 'used', depositId: paid.id, file: 'bca.csv' });
    const entry = await caller.expectAudited(line?._id ?? '', 'bank-line.use');
    expect(JSON.stringify(entry)).to.not.include('BUDI');
    expect(await matchesOf(...lines)).to.deep.equal(['none', 'used']);
    const again = await caller.call('/bank-statements', bodyOf(lines, plan.fingerprint));
    expect(again.status, again.text).to.equal(409);
    const nothing = await caller.call(
      '/bank-statements',
      bodyOf(lines, (await preview(...lines)).fingerprint),
    );
    expect(nothing.text).to.include('no line that is new');
  });

  it('reports how each line matches: amount, several, decided, repeated or none', async () => {
    const [alone, one, shared] = [await pending(), await pending(), createUniqueAmount()];
    const [first, second, rejected] = [await pending(shared), await pending(shared), await pending()];
    await caller.ask('rejectDeposit', `/deposits/${rejected.id}/reject`, { reason });
    const plain = (amount: number, days = 0) => ({ amount, text: 'SETORAN TUNAI', days });
    expect(await matchesOf(plain(alone.amount))).to.deep.equal(['amount']);
    expect(await matchesOf(plain(shared))).to.deep.equal(['several']);
    expect(await matchesOf(paying(second), plain(shared)), 'amount of the other deposit').to.deep.equal([
      'referenced',
      'amount',
    ]);
    expect(await matchesOf(paying(rejected))).to.deep.equal(['decided']);
    expect(await matchesOf(paying(one), paying(one)), 'paid twice').to.deep.equal(['referenced', 'repeated']);
    expect(await matchesOf(plain(one.amount), plain(one.amount)), 'equal amounts').to.deep.equal([
      'several',
      'several',
    ]);
    expect(await matchesOf({ ...paying(one), amount: one.amount + 1 }), 'wrong amount').to.deep.equal([
      'other-amount',
    ]);
    expect(
      await matchesOf(plain(alone.amount, 5), plain(createUniqueAmount())),
      'paid before the request',
    ).to.deep.equal(['none', 'none']);
    await caller.ask('confirmDeposit', `/deposits/${first.id}/confirm`, { reason });
    expect(await matchesOf(plain(shared)), 'could pay the confirmed deposit').to.deep.equal(['several']);
  });

  it('confirms by amount only on request, and counts lines left open earlier', async () => {
    const amount = createUniqueAmount();
    const early = { amount, text: 'SETORAN TUNAI 1' };
    expect(await confirm([early])).to.include({ confirmed: 0, kept: 1 });
    const deposit = await pending(amount);
    expect(await matchesOf({ amount, text: 'SETORAN TUNAI 2' })).to.deep.equal(['several']);
    expect(await matchesOf(early)).to.deep.equal(['amount']);
    const { fingerprint } = await preview(early);
    const without = await caller.call('/bank-statements', bodyOf([early], fingerprint));
    expect(without.status, without.text).to.equal(409);
    expect(await statusOf(deposit.id)).to.equal('pending');
    expect(await confirm([early], { by_amount: true })).to.include({ confirmed: 1, kept: 0 });
    expect(await statusOf(deposit.id)).to.equal('completed');
    // The deposit is already paid. No pending deposit with this amount is left.
    expect(await matchesOf({ amount, text: 'SETORAN TUNAI 2' })).to.deep.equal(['none']);
  });

  it('a payment exported again with another text credits no other deposit by amount', async () => {
    const amount = createUniqueAmount();
    const mine = await pending(amount);
    const [first, again] = [
      { amount, text: 'TRSF BUDI SANTOSO', days: 1 },
      { amount, text: 'BI-FAST CR BUDI S' },
    ];
    // The bank may book the same payment on the next day.
    expect(await confirm([{ ...first, days: 0 }], { by_amount: true })).to.include({ confirmed: 1 });
    const theirs = await pending(amount);
    for (const days of [0, 1]) {
      const { lines } = await preview({ ...again, days });
      expect(lines.map(({ match, same_before }) => [match, same_before])).to.deep.equal([['several', true]]);
    }
    expect(await confirm([again], { by_amount: true })).to.include({ confirmed: 0, kept: 1 });
    expect([await credits(mine.id), await statusOf(theirs.id)]).to.deep.equal([1, 'pending']);
    // Both the list and the manual confirmation refer to the earlier line.
    const [, line] = await findLines(amount);
    const { lines: listed } = await caller.ask('listBankLines', '/bank-lines?limit=100');
    const shown = listed.find(({ id }: { id: string }) => id === line?._id);
    expect(shown.same_before).to.deep.equal([
      { id: (await findLines(amount))[0]?._id, day: shown.day, status: 'used', deposit_id: mine.id },
    ]);
    const use = (more: object) =>
      caller.call(`/bank-lines/${line?._id}/use`, { deposit_id: theirs.id, reason, ...more });
    const asked = await use({});
    expect([asked.status, asked.text.includes(`used for deposit ${mine.id}`)]).to.deep.equal([409, true]);
    expect(await statusOf(theirs.id)).to.equal('pending');
    expect((await use({ meant: true })).status).to.equal(200);
    expect(await statusOf(theirs.id)).to.equal('completed');
  });

  it('a used line of the same statement does not block a second payment of its amount', async () => {
    const amount = createUniqueAmount();
    const paid = await pending(amount);
    const lines = [paying(paid), { amount, text: 'SETORAN TUNAI' }];
    await confirm([paying(paid)]);
    const other = await pending(amount);
    const plan = await preview(...lines);
    expect(plan.lines.map(({ match, same_before }) => [match, same_before])).to.deep.equal([
      ['amount', false],
      ['used', false],
    ]);
    expect(await confirm(lines, { by_amount: true })).to.include({ confirmed: 1 });
    expect(await statusOf(other.id)).to.equal('completed');
  });

  it('the preview reports the days, and whether day and month may be swapped', async () => {
    const now = DateTime.now().setZone('Asia/Jakarta');
    const days = await preview(
      { amount: createUniqueAmount(), text: 'x', days: 3 },
      { amount: createUniqueAmount(), text: 'y', days: 20 },
    );
    expect([days.first_day, days.last_day, days.is_order_told]).to.deep.equal([
      ...[20, 3].map((ago) => now.minus({ days: ago }).toFormat('yyyy-MM-dd')),
      true,
    ]);
  });

  it('confirms by reference only on request, because clients choose references', async () => {
    const paid = await pending();
    const lines = [paying(paid)];
    expect(await confirm(lines, { by_reference: false })).to.include({ confirmed: 0, kept: 1 });
    expect(await statusOf(paid.id)).to.equal('pending');
    expect(await confirm(lines)).to.include({ confirmed: 1, kept: 0 });
    const ours = await pending();
    const byOurId = [{ amount: ours.amount, text: `TRF ${ours.id}` }];
    expect((await preview(...byOurId)).amount_named).to.equal(ours.amount);
    expect(await confirm(byOurId, { by_reference: false })).to.include({ confirmed: 1 });
  });

  it('a payment that names a deposit paid by another line needs an operator', async () => {
    const paid = await pending();
    await confirm([paying(paid)]);
    const buyer2 = apiClient(shop.stack.baseUrl, shop.accounts['buyer2']?.api_key ?? '');
    await buyer2.post('/api/buyer/deposit', { amount: paid.amount, ref_id: uniqueRef() });
    const again = { amount: paid.amount, text: `TRF LAGI ${paid.refId}` };
    expect(await matchesOf(again)).to.deep.equal(['decided']);
    // The text also names a second deposit of this account.
    const second = await pending(paid.amount);
    expect(await matchesOf({ ...again, text: `${paid.refId} ${second.refId}` })).to.deep.equal(['several']);
    const all = { by_reference: true, by_amount: true };
    expect(await confirm([again], all)).to.include({ confirmed: 0, kept: 1 });
  });

  it('uses a line of overlapping statements once, and an equal second one separately', async () => {
    const [one, two] = [await pending(), await pending()];
    const same = { amount: createUniqueAmount(), text: 'TRF BUDI' };
    await confirm([paying(one, 1), same]);
    expect(await matchesOf(paying(two), same, paying(one, 1), same)).to.deep.equal([
      'referenced',
      'none',
      'none',
      'used',
    ]);
    expect(await confirm([paying(two), same, paying(one, 1), same])).to.include({ confirmed: 1, kept: 2 });
    expect(await findLines(same.amount)).to.have.length(2);
    expect([await credits(one.id), await credits(two.id)]).to.deep.equal([1, 1]);
  });

  it('never guesses between two accounts with one reference and one amount', async () => {
    const amount = createUniqueAmount();
    const mine = await pending(amount);
    const buyer2 = apiClient(shop.stack.baseUrl, shop.accounts['buyer2']?.api_key ?? '');
    await buyer2.post('/api/buyer/deposit', { amount, ref_id: mine.refId });
    const plan = await preview(paying(mine));
    expect(plan.lines[0]?.match).to.equal('several');
    expect(plan.lines[0]?.deposits.map(({ account }) => account).sort()).to.deep.equal(['buyer', 'buyer2']);
  });

  it('a reference made of common words takes no payment of another client', async () => {
    const buyer2 = apiClient(shop.stack.baseUrl, shop.accounts['buyer2']?.api_key ?? '');
    const choose = (amount: number, refId: string) =>
      buyer2.post('/api/buyer/deposit', { amount, ref_id: refId });
    // The words that all lines contain, and the words that only one customer's lines contain.
    const victim = await pending();
    const customer = uniqueRef('toko').toUpperCase();
    await choose(victim.amount, customer);
    const line = { amount: victim.amount, text: `TRSF E-BANKING CR ${customer}` };
    const plan = await preview(line);
    expect(plan.lines[0]?.match).to.equal('several');
    expect(plan.lines[0]?.deposits.map(({ account }) => account)).to.deep.equal(['buyer2', 'buyer']);
    expect(await matchesOf(line, paying(victim)), 'the victim has its own line').to.deep.equal([
      'referenced',
      'referenced',
    ]);
    const ofOurId = { amount: victim.amount, text: `TRSF E-BANKING CR ${victim.id.toUpperCase()}` };
    expect(await matchesOf(ofOurId), 'our id wins over references').to.deep.equal(['named']);
    const amount = createUniqueAmount();
    await choose(amount, 'E-BANKING');
    expect(await matchesOf({ amount, text: 'TRSF E-BANKING CR' }), 'a word').to.deep.equal(['amount']);
  });

  it('confirms nothing if a deposit was decided since the preview', async () => {
    const [one, two] = [await pending(), await pending()];
    const lines = [paying(one), paying(two)];
    const { fingerprint } = await preview(...lines);
    await caller.ask('rejectDeposit', `/deposits/${one.id}/reject`, { reason });
    const answer = await caller.call('/bank-statements', bodyOf(lines, fingerprint));
    expect(answer.status, answer.text).to.equal(409);
    expect(answer.text).to.include('since the preview');
    expect([await statusOf(two.id), (await findLines(two.amount)).length]).to.deep.equal(['pending', 0]);
    const another = await caller.call('/bank-statements', bodyOf([paying(two)], fingerprint));
    expect(another.status, 'hash of another file').to.equal(409);
  });

  it('an operator uses an unknown line for a deposit or sets it aside, once', async () => {
    const [deposit, wrong] = [await pending(), await pending()];
    const unknown = { amount: createUniqueAmount(), text: 'SETORAN TUNAI' };
    await confirm([{ amount: deposit.amount, text: 'SETORAN TUNAI' }, unknown]);
    const open = await caller.idsOf('listBankLines', '/bank-lines?limit=1', 'lines');
    const [[line], [left]] = [await findLines(deposit.amount), await findLines(unknown.amount)];
    const [id, leftId] = [line?._id ?? '', left?._id ?? ''];
    expect(open).to.include.members([id, leftId]);
    expect(new Set(open).size).to.equal(open.length);
    const use = (lineId: string, deposit_id: string) =>
      caller.call(`/bank-lines/${lineId}/use`, { deposit_id, reason });
    const mismatch = await use(id, wrong.id);
    expect([mismatch.status, mismatch.text.includes(`is ${wrong.amount}`)]).to.deep.equal([409, true]);
    expect((await use(id, 'none-such')).status).to.equal(404);
    expect((await use('none-such', deposit.id)).status).to.equal(404);
    const given = { deposit_id: deposit.id, reason };
    expect(await caller.ask('useBankLine', `/bank-lines/${id}/use`, given)).to.deep.equal({ changed: true });
    expect(await caller.ask('useBankLine', `/bank-lines/${id}/use`, given)).to.deep.equal({ changed: false });
    expect(await credits(deposit.id)).to.equal(1);
    expect((await caller.call(`/bank-lines/${id}/set-aside`, { reason })).status, 'used line').to.equal(409);
    const aside = `/bank-lines/${leftId}/set-aside`;
    expect(await caller.ask('setBankLineAside', aside, { reason })).to.deep.equal({ changed: true });
    await caller.expectAudited(leftId, 'bank-line.set-aside');
    expect(await caller.ask('setBankLineAside', aside, { reason })).to.deep.equal({ changed: false });
    expect((await use(leftId, wrong.id)).status, 'line set aside').to.equal(409);
    expect(await matchesOf(unknown)).to.deep.equal(['set-aside']);
    const reopen = `/bank-lines/${leftId}/reopen`;
    expect(await caller.ask('reopenBankLine', reopen, { reason })).to.deep.equal({ changed: true });
    const entry = await caller.expectAudited(leftId, 'bank-line.reopen');
    expect(entry['before']).to.include({ status: 'set-aside' });
    expect(await caller.ask('reopenBankLine', reopen, { reason })).to.deep.equal({ changed: false });
    expect(await findLines(unknown.amount).then(([each]) => each)).to.include({
      status: 'open',
      decided: null,
    });
    expect((await caller.call(`/bank-lines/${id}/reopen`, { reason })).status, 'used line').to.equal(409);
    expect((await caller.call('/bank-lines/none-such/reopen', { reason })).status).to.equal(404);
    await caller.ask('setBankLineAside', aside, { reason });
    expect(await caller.idsOf('listBankLines', '/bank-lines', 'lines')).to.not.include.members([id, leftId]);
    expect((await caller.call('/bank-lines?after=x')).status).to.equal(400);
  });

  it('offers the pending deposits of the amount, and credits the chosen one once', async () => {
    const amount = createUniqueAmount();
    await confirm([{ amount, text: 'SETORAN' }]);
    const [chosen, left] = [await pending(amount), await pending(amount)];
    await pending(amount + 1);
    const rejected = await pending(amount);
    await caller.ask('rejectDeposit', `/deposits/${rejected.id}/reject`, { reason });
    const [line] = await findLines(amount);
    const { lines: listed } = await caller.ask('listBankLines', '/bank-lines?limit=100');
    const shown = listed.find(({ id }: { id: string }) => id === line?._id);
    expect(
      shown.choices.map(({ account, ref_id }: Record<string, string>) => [account, ref_id]),
    ).to.deep.equal([left, chosen].map(({ refId }) => ['buyer', refId]));
    expect(shown.more_choices).to.equal(false);
    const body = { deposit_id: chosen.refId, reason };
    const end = line?._id.slice(-8) ?? '';
    for (const changed of [true, false]) {
      expect(await caller.ask('useBankLine', `/bank-lines/${end}/use`, body)).to.deep.equal({ changed });
    }
    expect([await credits(chosen.id), await statusOf(left.id)]).to.deep.equal([1, 'pending']);
    const other = await caller.call(`/bank-lines/${end}/use`, { ...body, deposit_id: left.refId });
    expect([other.status, await statusOf(left.id)], 'a second deposit').to.deep.equal([409, 'pending']);
  });

  it('asks for the id if two accounts have a deposit of the amount and reference', async () => {
    const amount = createUniqueAmount();
    const mine = await pending(amount);
    const buyer2 = apiClient(shop.stack.baseUrl, shop.accounts['buyer2']?.api_key ?? '');
    await buyer2.post('/api/buyer/deposit', { amount, ref_id: mine.refId });
    await confirm([{ amount, text: 'SETORAN' }]);
    const [line] = await findLines(amount);
    const answer = await caller.call(`/bank-lines/${line?._id}/use`, { deposit_id: mine.refId, reason });
    expect([answer.status, answer.text.includes(mine.id)]).to.deep.equal([409, true]);
    expect(await statusOf(mine.id)).to.equal('pending');
  });

  it('names the missing column of a statement that it cannot read', async () => {
    const unreadable = await caller.call('/bank-statements/preview', { file: encoded('Tanggal;Saldo') });
    expect([unreadable.status, unreadable.text.includes('Keterangan')]).to.deep.equal([400, true]);
  });

  it('concurrent confirmations credit each deposit and use each line once', async () => {
    const deposits = await Promise.all(Array.from({ length: 40 }, () => pending()));
    const lines = deposits.map((each) => paying(each));
    const { fingerprint } = await preview(...lines);
    const answers = await Promise.all(
      [caller, other].map((each) => each.call('/bank-statements', bodyOf(lines, fingerprint))),
    );
    for (const { status, text } of answers) {
      expect(status, text).to.be.oneOf([200, 409]);
    }
    const confirmed = answers.map(({ text }) => Number(JSON.parse(text).data?.confirmed ?? 0));
    expect(confirmed.reduce((sum, each) => sum + each, 0)).to.equal(deposits.length);
    for (const { id, amount } of deposits) {
      expect([await credits(id), await statusOf(id)]).to.deep.equal([1, 'completed']);
      const used = (await findLines(amount)).map(({ status, depositId }) => [status, depositId]);
      expect(used).to.deep.equal([['used', id]]);
    }
  });

  it('concurrent uses credit one deposit per line and use one line per deposit', async () => {
    for (let round = 0; round < 5; round += 1) {
      const amount = createUniqueAmount();
      const [one, two] = [await pending(amount), await pending(amount)];
      await confirm([{ amount, text: `SETORAN ${uniqueRef()}` }]);
      const [line] = await findLines(amount);
      const answers = await Promise.all(
        [one, two].map(({ id }, n) =>
          (n === 0 ? caller : other).call(`/bank-lines/${line?._id}/use`, { deposit_id: id, reason }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
      expect((await credits(one.id)) + (await credits(two.id))).to.equal(1);
      const left = (await credits(one.id)) === 0 ? one : two;
      await confirm([
        { amount, text: `SETORAN ${uniqueRef()}` },
        { amount, text: `SETORAN ${uniqueRef()}` },
      ]);
      const open = (await findLines(amount)).filter(({ status }) => status === 'open');
      const given = await Promise.all(
        open.map(({ _id }) =>
          caller.call(`/bank-lines/${_id}/use`, { deposit_id: left.id, meant: true, reason }),
        ),
      );
      expect(given.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
      expect(await credits(left.id)).to.equal(1);
    }
  });

  it('a line that names a deposit of another amount credits no other deposit', async () => {
    const amount = createUniqueAmount();
    const [named, fitting] = [await pending(amount + 1), await pending(amount)];
    await confirm([{ amount, text: `TRSF BUYER ${named.id.toUpperCase()}` }], { by_amount: true });
    expect([await statusOf(named.id), await statusOf(fitting.id)]).to.deep.equal(['pending', 'pending']);
  });

  it('keeps the ledger consistent', async () => {
    await expectLedgerToBalance(shop.stack);
    await expectLedgerVerified(shop.stack);
  });
});
