/** A price list with the maximum number of lines is applied, undone and interrupted. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { getBuiltProgramPath } from '../../../config/project-file.js';
import { limits } from '../../../config/limits.js';
import type { PriceImport } from '../../../src/providers/imports/price-import.model.js';
import { reason } from '../../console/support/console-caller.js';
import { eventually } from '../../support/eventually.js';
import { startStack, type Stack } from '../../support/stack.js';
import { topup, topupProcess } from '../../support/topup.js';

describe('a price list of 10,000 lines', function () {
  this.timeout(180_000);
  let stack: Stack;
  let folder: string;
  let list: string;
  const codes = Array.from(
    { length: limits.priceFileLinesMax },
    (_, n) => `LONG${String(n).padStart(5, '0')}`,
  );

  before(async () => {
    stack = await startStack({ web: false });
    await stack.seed();
    const sellerId = String((await stack.db.collection('accounts').findOne({ username: 'seller' }))?._id);
    const at = { createdAt: new Date(), updatedAt: new Date() };
    const sold = { category: 'prabayar', subcategory: 'pulsa', operator: null, status: 'active' };
    const asked = { description: null, customerNumber: { kind: 'any' }, cutOff: null };
    await stack.db
      .collection<{ _id: string }>('products')
      .insertMany(codes.map((_id) => ({ _id, sellerId, name: _id, ...sold, ...asked, ...at })));
    await stack.db.collection<{ _id: string }>('offers').insertMany(
      codes.map((productCode) => ({
        _id: `${productCode}:${sellerId}`,
        productCode,
        sellerId,
        price: 10_000,
        status: 'active',
        ...at,
      })),
    );
    folder = mkdtempSync(join(tmpdir(), 'price-lists-'));
    list = join(folder, 'long.csv');
    const lines = codes.map((code, n) => `${code},seller,${20_000 + n}`);
    writeFileSync(list, ['code,seller,price', ...lines].join('\n'));
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await stack.stop();
  });

  const why = ['--reason', reason];
  const imports = () => stack.db.collection<PriceImport>('priceImports');
  const changed = () =>
    stack.db.collection('offers').countDocuments({ productCode: /^LONG/, price: { $gte: 20_000 } });
  /** Waits until an import has written some of its lines, but not all of them. */
  const underWay = () =>
    eventually('a started import', () => imports().findOne({ status: 'applying', changed: { $gt: 0 } }));
  async function undo(id: string): Promise<number> {
    const undone = await topup(['product', 'import', '--undo', id, '--json', ...why], stack.env);
    expect(undone.code, undone.stderr).to.equal(0);
    return undone.json<{ undone: number }>().undone;
  }

  it('is applied completely and undone completely', async () => {
    const applied = await topup(['product', 'import', list, '--apply', '--json', ...why], stack.env);
    expect(applied.code, applied.stderr).to.equal(0);
    const { importId, changed: written } = applied.json<{ importId: string; changed: number }>();
    expect([written, await changed()]).to.deep.equal([codes.length, codes.length]);
    expect(await imports().findOne({ _id: importId })).to.include({
      status: 'applied',
      changed: codes.length,
    });
    expect(await undo(importId)).to.equal(codes.length);
    expect(await changed()).to.equal(0);
  });

  it('keeps, lists and undoes the changes of a killed process', async () => {
    const child = spawn(
      process.execPath,
      [getBuiltProgramPath('scripts/topup.js'), 'product', 'import', list, '--apply', ...why],
      { env: stack.env, stdio: 'ignore' },
    );
    const ended = once(child, 'exit');
    const { _id } = await underWay();
    child.kill('SIGKILL');
    await ended;
    const found = await imports().findOne({ _id });
    expect(found?.status).to.equal('applying');
    expect(await changed())
      .to.equal(found?.changed)
      .and.to.be.within(1, codes.length - 1);
    expect(await undo(_id)).to.equal(found?.changed);
    expect(await changed()).to.equal(0);
  });

  it('an undo during the import leaves nothing, and the importer gets an error', async () => {
    const applying = topupProcess(['product', 'import', list, '--apply', ...why], stack.env);
    const { _id } = await underWay();
    await undo(_id);
    const applied = await applying;
    expect([applied.code, applied.stderr.includes('is being undone')], applied.stderr).to.deep.equal([
      1,
      true,
    ]);
    expect(await changed()).to.equal(0);
    expect((await imports().findOne({ _id }))?.status).to.equal('undone');
  });
});
