import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { reason } from '../../console/support/console-caller.js';
import { addProduct } from '../provider-stack.js';
import { startStack, type Stack } from '../../support/stack.js';
import { topup } from '../../support/topup.js';
import { workbookOf } from './workbook.js';

describe('price lists on the command line', function () {
  this.timeout(180_000);
  let stack: Stack;
  let sellerId: string;
  let folder: string;

  before(async () => {
    stack = await startStack();
    await stack.seed();
    sellerId = String((await stack.db.collection('accounts').findOne({ username: 'seller' }))?._id);
    folder = mkdtempSync(join(tmpdir(), 'price-lists-'));
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await stack.stop();
  });

  const run = (...args: string[]) => topup(['product', ...args], stack.env);
  const file = (name: string, content: Buffer | string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const priceOf = async (code: string) =>
    Number(
      (
        (await stack.db.collection<{ _id: string }>('offers').findOne({ _id: `${code}:${sellerId}` })) as {
          price?: number;
        } | null
      )?.price,
    );
  const why = ['--reason', reason];

  it('previews, applies, lists, shows the history and undoes', async () => {
    const code = await addProduct(stack, [{ sellerId, price: 10_000 }]);
    const list = file(
      'list.xlsx',
      workbookOf([
        ['code', 'seller', 'price', 'cost'],
        [code, 'seller', 10_500, 10_400],
        ['none-such', 'seller', 1, null],
      ]),
    );
    const previewed = await run('import', list);
    expect(previewed.code, previewed.stderr).to.equal(0);
    expect(previewed.stdout)
      .to.include('Rp 10.000 -> Rp 10.500')
      .and.include('LOSES Rp -110')
      .and.include('line 3: there is no such product')
      .and.include('Nothing was changed');
    expect(await priceOf(code)).to.equal(10_000);
    const losing = await run('import', list, '--apply', ...why);
    expect([losing.code, losing.stderr.includes('lose money')]).to.deep.equal([1, true]);
    const applied = await run('import', list, '--apply', '--meant', '--json', ...why);
    expect(applied.code, applied.stderr).to.equal(0);
    const { importId } = applied.json<{ importId: string }>();
    expect(await priceOf(code)).to.equal(10_500);
    const listed = await run('imports');
    expect(listed.stdout).to.include(importId).and.include('list.xlsx').and.include('1 of 1');
    const undone = await run('import', '--undo', importId, ...why);
    expect(undone.stdout, undone.stderr).to.include('1 offers have their previous values again');
    expect(await priceOf(code)).to.equal(10_000);
    const history = await run('history', code, '--seller', 'seller');
    expect(history.stdout).to.match(/Rp 10\.000[^\n]*ticket 812\n[^\n]*Rp 10\.500/);
  });

  it('a fivefold price needs confirmation, and a price above the limit is refused', async () => {
    const code = await addProduct(stack, [{ sellerId, price: 10_000 }]);
    const list = file('rises.csv', `code,seller,price\n${code},seller,50000\nS10,seller,1000000000\n`);
    const previewed = await run('import', list);
    expect(previewed.stdout, previewed.stderr)
      .to.match(/rise to five times or more +2/)
      .and.include('RISES')
      .and.include('line 3: its price is above Rp 999.999.999');
    const refused = await run('import', list, '--apply', ...why);
    expect([refused.code, refused.stderr.includes('five times')]).to.deep.equal([1, true]);
    expect(await priceOf(code)).to.equal(10_000);
    expect((await run('import', list, '--apply', '--meant', ...why)).code).to.equal(0);
    expect(await priceOf(code)).to.equal(50_000);
  });

  it('refuses invalid arguments: no file, file with --undo, no reason', async () => {
    const list = file('some.csv', 'code,seller,price\nS10,seller,1\n');
    for (const wrong of [
      ['import'],
      ['import', list, '--undo', 'x', ...why],
      ['import', '--undo', 'x', '--apply', ...why],
      ['import', list, '--apply'],
      ['import', '--undo', 'x'],
    ]) {
      expect((await run(...wrong)).code, wrong.join(' ')).to.equal(2);
    }
    expect((await run('import', file('bad.csv', 'nothing'))).code).to.equal(1);
  });
});
