import { expect } from 'chai';
import fc from 'fast-check';
import { readBalances, openStatement, readEntries } from '../../src/statements/statement.js';
import { createDeposit } from '../../src/deposits/create-deposit.js';
import { closeLedger } from '../../src/reconciliation/closes/close-ledger.js';
import { getWallet } from '../../src/money/wallets/wallet-balance.js';
import { parsePeriod, getStartOfDay } from '../../src/shared/business-time.js';
import { nowMs, setClock } from '../../src/shared/clock.js';
import { newId } from '../../src/shared/ids.js';
import { useApi, type ApiAccount } from '../api/support/api.js';
import { dayAgo, openPlay, setTime } from '../reconciliation/closes/ledger-play.js';
import { csvRows } from '../support/csv.js';
import { seededRandom } from '../support/random.js';
import { topup } from '../support/topup.js';

const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;

interface Entry {
  at: string;
  kind: string;
  ref_id: string | null;
  subject_id: string;
  amount: number;
  balance: number;
}

interface Page {
  period: { start_date: string; end_date: string };
  opening_balance: number;
  closing_balance: number;
  entries: Entry[];
  next_cursor: string | null;
}

const sumOf = (entries: { amount: number }[]) => entries.reduce((sum, { amount }) => sum + amount, 0);

describe('statements', function () {
  this.timeout(180_000);
  const api = useApi();
  afterEach(() => setClock(null));

  async function pageOf({ account, key }: ApiAccount, query: string): Promise<Page> {
    const answer = await api.call({ path: `/api/${account.role}/statement?${query}`, key });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.data as Page;
  }

  /**
   * Reads all pages of a statement and joins their entries. Runs `between` before each page except
   * the first.
   */
  async function readWholeStatement(
    owner: ApiAccount,
    query: string,
    between = async () => {},
  ): Promise<Page> {
    let page = await pageOf(owner, query);
    const whole = { ...page, entries: [...page.entries] };
    while (page.next_cursor !== null) {
      await between();
      page = await pageOf(owner, `cursor=${page.next_cursor}&limit=${1 + (whole.entries.length % 3)}`);
      expect([page.opening_balance, page.closing_balance]).to.deep.equal([
        whole.opening_balance,
        whole.closing_balance,
      ]);
      whole.entries.push(...page.entries);
    }
    return whole;
  }

  it('show every movement with reference, sign and balance, oldest first', async () => {
    const buyer = await api.newBuyer(0);
    setTime(dayAgo(2), 9);
    await createDeposit({ account: buyer.account, amount: 60_000, refId: 'first' });
    setTime(dayAgo(1), 9);
    await createDeposit({ account: buyer.account, amount: 50_000, refId: '-second' });
    setClock(null);
    const page = await pageOf(buyer, `start_date=${dayAgo(1)}&end_date=${dayAgo(1)}`);
    expect(page).to.deep.include({ opening_balance: 60_000, closing_balance: 110_000, next_cursor: null });
    expect(page.entries.map(({ subject_id, ...entry }) => [entry, subject_id.length])).to.deep.equal([
      [
        {
          at: new Date(getStartOfDay(dayAgo(1)).getTime() + 9 * hourMs).toISOString(),
          kind: 'deposit',
          ref_id: '-second',
          amount: 50_000,
          balance: 110_000,
        },
        32,
      ],
    ]);
    const month = await pageOf(buyer, '');
    expect(month.entries.map(({ ref_id }) => ref_id)).to.deep.equal(['first', '-second']);
    expect(month.period).to.deep.equal({
      start_date: getStartOfDay(dayAgo(29)).toISOString(),
      end_date: new Date(getStartOfDay(dayAgo(-1)).getTime() - 1).toISOString(),
    });
    const at = page.entries[0]?.at ?? '';
    const instant = await pageOf(buyer, `start_date=${at}&end_date=${at}`);
    expect(instant.entries, 'inclusive bounds').to.deep.equal(page.entries);
    const before = await pageOf(buyer, `start_date=${dayAgo(9)}&end_date=${dayAgo(8)}`);
    expect(before).to.deep.include({ opening_balance: 0, closing_balance: 0, entries: [] });
  });

  it("show a seller's postings and withdrawals; moves of held money are 0", async () => {
    const play = await openPlay();
    const { key } = await api.newAccount('buyer');
    await play.succeed(await play.buy());
    await play.post();
    // The deposit covers the withdrawal.
    await createDeposit({ account: play.seller, amount: 100_000, refId: 'capital' });
    const settlement = await play.withdraw(60_000);
    await play.pay(settlement);
    const statement = await openStatement(play.seller._id, parsePeriod(undefined, undefined));
    const entries = await readEntries(statement, { after: 0, limit: 100 });
    expect(entries.map(({ kind, refId, amount }) => [kind, refId, amount])).to.deep.equal([
      ['seller-posting', null, 980],
      ['deposit', 'capital', 100_000],
      ['settlement-request', settlement.refId, -60_000],
      ['settlement-completed', settlement.refId, 0],
    ]);
    expect(await readBalances(statement)).to.deep.equal({ opening: 0, closing: 40_980 });
    expect(key).to.be.a('string');
  });

  it('are complete as CSV, with CRLF and without executable cells', async () => {
    const buyer = await api.newBuyer(0);
    for (const refId of ['-1', 'plain', ...Array.from({ length: 120 }, () => newId())]) {
      await createDeposit({ account: buyer.account, amount: 50_000, refId });
    }
    const headers = { accept: 'text/csv' };
    const { body, headers: sent } = await api.call({
      path: '/api/buyer/statement?limit=2',
      key: buyer.key,
      headers,
    });
    expect(sent['content-type']).to.equal('text/csv; charset=utf-8; header=present');
    expect(sent['content-disposition']).to.match(/^attachment; filename="statement-[\d-]{21}\.csv"$/);
    const lines = String(body).split('\r\n');
    expect(lines[0]).to.equal('at,kind,ref_id,subject_id,amount,balance');
    expect(lines[1]).to.include(",'-1,");
    expect(lines).to.have.length(1 + 122 + 1);
    const printed = await topup(['statement', buyer.account.username, '--csv'], process.env);
    expect(printed.stdout).to.equal(body);
    const shown = await topup(['statement', buyer.account.username, '--limit', '2'], process.env);
    expect(shown.stdout).to.include('… and 120 more').and.include('Rp 6.100.000');
    expect(csvRows(String(body))).to.have.length(123);
    for (const [accept, isFile] of [
      ['text/csv; charset=utf-8', true],
      ['text/csv, application/json;q=0.5', true],
      ['text/csv;q=0, application/json', false],
      ['text/csv;q=0.1, application/json', false],
      ['application/json, text/csv', false],
      ['*/*', false],
    ] as const) {
      const answer = await api.call({ path: '/api/buyer/statement', key: buyer.key, headers: { accept } });
      expect(String(answer.headers['content-type']).startsWith('text/csv'), accept).to.equal(isFile);
    }
    const excel = await api.call({ path: '/api/buyer/statement?format=csv-excel', key: buyer.key });
    expect(String(excel.body)).to.match(/^at,kind,/);
    expect(csvRows(String(excel.body))[1]?.slice(1, 3)).to.deep.equal(['="deposit"', '="-1"']);
    const printedForExcel = await topup(['statement', buyer.account.username, '--csv-excel'], process.env);
    // The HTTP client removes the byte order mark, so add it for the comparison.
    expect(printedForExcel.stdout).to.equal(`\ufeff${String(excel.body)}`);
    const plain = await api.call({ path: '/api/buyer/statement?format=csv', key: buyer.key });
    expect(plain.body).to.equal(body);
  });

  it("refuse a cursor of another wallet's statement", async () => {
    const buyer = await api.newBuyer(50_000);
    await createDeposit({ account: buyer.account, amount: 50_000, refId: newId() });
    const { next_cursor: cursor } = await pageOf(buyer, 'limit=1');
    const stranger = await api.newBuyer(0);
    for (const accept of ['application/json', 'text/csv']) {
      const path = `/api/buyer/statement?cursor=${String(cursor)}`;
      const answer = await api.call({ path, key: stranger.key, headers: { accept } });
      expect(answer.status).to.equal(400);
      expect(answer.body.errors[0].field).to.equal('cursor');
    }
  });

  const random = seededRandom();
  it(`balance for any history, with wrong clocks and closes (${random.seed})`, async () => {
    const seed = Number(random.seed.replace('SEED=', ''));
    let firstDay = 300;
    const step = fc.record({
      what: fc.constantFrom('deposit', 'buy', 'fail', 'succeed', 'close'),
      afterMs: fc.integer({ min: 0, max: 9 * hourMs }),
      skewMs: fc.oneof(
        { weight: 6, arbitrary: fc.constant(0) },
        { weight: 3, arbitrary: fc.integer({ min: -hourMs, max: hourMs }) },
        { weight: 1, arbitrary: fc.constantFrom(-yearMs, yearMs, 30 * hourMs, -30 * hourMs) },
      ),
    });
    const history = fc.record({
      steps: fc.array(step, { minLength: 5, maxLength: 25 }),
      cuts: fc.array(fc.integer({ min: 0, max: 12 * 24 * 60 }), { minLength: 1, maxLength: 6 }),
      limit: fc.integer({ min: 1, max: 7 }),
    });
    await fc.assert(
      fc.asyncProperty(history, async ({ steps, cuts, limit }) => {
        firstDay -= 12;
        const startMs = getStartOfDay(dayAgo(firstDay)).getTime();
        let realMs = startMs + hourMs;
        setClock(() => realMs);
        const play = await openPlay();
        const closedAs = new Map<string, unknown>();
        for (const { what, afterMs, skewMs } of steps) {
          realMs += afterMs;
          setClock(() => realMs);
          if (what === 'close') {
            await closeLedger();
            continue;
          }
          const purchase = what === 'deposit' ? null : await play.buy();
          setClock(() => realMs + skewMs);
          await (what === 'deposit' ? play.deposit() : null);
          await (purchase && what === 'fail' ? play.fail(purchase) : null);
          await (purchase && what === 'succeed' ? play.succeed(purchase) : null);
        }
        setClock(() => realMs);
        const id = play.buyer._id;
        const read = async (start: number, end: number) => {
          const statement = await openStatement(id, { start: new Date(start), end: new Date(end) });
          const entries = await readEntries(statement, { after: statement.firstSeq - 1, limit: 1_000 });
          const balances = await readBalances(statement);
          expect((balances?.opening ?? NaN) + sumOf(entries)).to.equal(balances?.closing);
          return { entries, ...balances };
        };
        const whole = await read(startMs - 2 * yearMs, nowMs() + 2 * yearMs);
        expect(whole.closing).to.equal((await getWallet(id)).balance);
        const bounds = [...new Set(cuts.map((minute) => startMs + minute * 60_000))].sort((a, b) => a - b);
        const starts = [startMs - 2 * yearMs, ...bounds];
        const parts: Awaited<ReturnType<typeof read>>[] = [];
        for (const [index, start] of starts.entries()) {
          parts.push(await read(start, (starts[index + 1] ?? nowMs() + 2 * yearMs) - 1));
        }
        expect(parts.flatMap(({ entries }) => entries.map(({ seq }) => seq))).to.deep.equal(
          whole.entries.map(({ seq }) => seq),
        );
        parts.slice(1).forEach((part, index) => expect(part.opening).to.equal(parts[index]?.closing));

        // A closed period does not change, even if processes with wrong clocks write later.
        realMs = Math.max(realMs, startMs + 5 * 24 * hourMs) + 50 * hourMs;
        setClock(() => realMs);
        await closeLedger();
        const days = Array.from({ length: 4 }, (_, n) => [
          startMs + n * 24 * hourMs,
          startMs + (n + 1) * 24 * hourMs - 1,
        ]);
        for (const [start = 0, end = 0] of days) {
          closedAs.set(`${start}`, await read(start, end));
          setClock(() => start + limit * hourMs);
          await play.deposit();
          setClock(() => realMs);
          expect(await read(start, end)).to.deep.equal(closedAs.get(`${start}`));
        }
      }),
      { seed, numRuns: 12, endOnFailure: true },
    );
  });

  it('keep a closed day unchanged; late movements appear on the next day', async () => {
    const [day, next] = [dayAgo(40), dayAgo(39)];
    setTime(day, 10);
    const play = await openPlay();
    setTime(next, 1);
    await closeLedger();
    const read = async (date: string) => {
      const statement = await openStatement(play.buyer._id, parsePeriod(date, date));
      return readEntries(statement, { after: statement.firstSeq - 1, limit: 100 });
    };
    const closed = await read(day);
    expect(closed).to.have.length(1);
    setTime(day, 11);
    const late = await play.deposit();
    setTime(next, 12);
    await play.deposit();
    expect(await read(day)).to.deep.equal(closed);
    setTime(dayAgo(38), 1);
    await closeLedger();
    expect(await read(day)).to.deep.equal(closed);
    expect((await read(next)).map(({ subjectId }) => subjectId)[0]).to.equal(late._id);
  });

  it('are consistent over all pages during concurrent writes', async () => {
    const buyer = await api.newBuyer(50_000);
    let isDone = false;
    const writing = (async () => {
      for (let n = 0; n < 60; n += 1) {
        await createDeposit({ account: buyer.account, amount: 50_000 + n, refId: newId() });
      }
      isDone = true;
    })();
    let statements = 0;
    do {
      const whole = await readWholeStatement(buyer, 'limit=2');
      expect(whole.opening_balance + sumOf(whole.entries)).to.equal(whole.closing_balance);
      expect(whole.entries.at(-1)?.balance).to.equal(whole.closing_balance);
      statements += 1;
    } while (!isDone);
    await writing;
    expect(statements).to.be.greaterThan(1);
    const last = await readWholeStatement(buyer, '');
    expect(last.entries).to.have.length(61);
    expect(last.closing_balance).to.equal((await getWallet(buyer.account._id)).balance);
  });
});
