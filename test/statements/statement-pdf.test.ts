import { expect } from 'chai';
import { limits } from '../../config/limits.js';
import { drawStatementPdf } from '../../src/statements/statement-pdf.js';

describe('a PDF statement', () => {
  const at = new Date('2026-11-24T05:00:00.000Z');
  const details = { username: 'toko', balances: { opening: 0, closing: 0 }, language: 'en' as const, at };
  const statementOf = (lastSeq: number) => ({
    walletId: 'none',
    firstSeq: 1,
    lastSeq,
    period: { start: new Date(at.getTime() - 1_000), end: at },
  });

  it('refuses too many movements before reading one', async () => {
    const max = limits.statementPdfEntriesMax;
    const why = await drawStatementPdf(statementOf(max + 1), details).then(
      () => null,
      (error: unknown) => (error as Error).message,
    );
    expect(why).to.include(`at most ${max} movements`).and.include('CSV');
  });

  it('has a deterministic page for an empty period', async () => {
    const [one, other] = [
      await drawStatementPdf(statementOf(0), details),
      await drawStatementPdf(statementOf(0), details),
    ];
    expect(one.subarray(0, 5).toString()).to.equal('%PDF-');
    expect(one.equals(other)).to.equal(true);
  });
});
