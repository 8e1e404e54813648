/** The rows of a price import are kept for as long as the import can be undone. */
import { expect } from 'chai';
import { limits } from '../../../config/limits.js';
import { applyRetention } from '../../../src/privacy/apply-retention.js';
import { PriceImportModel, PriceImportRowModel } from '../../../src/providers/imports/price-import.model.js';
import { undoImport } from '../../../src/providers/imports/undo-import.js';
import { ConflictError } from '../../../src/shared/errors.js';
import { getFirstIdAt, newId } from '../../../src/shared/ids.js';
import { useDatabase } from '../../webhooks/support/database.js';

describe('rows of a price import', () => {
  useDatabase();

  it('are removed only when the import can no longer be undone', async () => {
    const figures = { price: 10_000, cost: null, status: 'active' as const };
    const importOf = async (daysAgo: number) => {
      const atMs = Date.now() - daysAgo * 86_400_000;
      const _id = `${getFirstIdAt(Math.floor(atMs))}${newId().slice(12)}`;
      const counts = { planned: 1, changed: 1, actor: 'test', reason: null };
      await PriceImportModel.create({
        _id,
        file: 'x',
        status: 'applied',
        ...counts,
        createdAt: new Date(atMs),
        undone: null,
      });
      const of = { importId: _id, line: 2, productCode: 'NONE', sellerId: 'none' };
      await PriceImportRowModel.create({
        _id: `${_id}:NONE:none`,
        ...of,
        before: figures,
        after: { ...figures, price: 11_000 },
      });
      return _id;
    };
    const [old, ending, young] = [
      await importOf(limits.priceImportRowsKeptDays + 2),
      await importOf(limits.priceImportRowsKeptDays + 0.5),
      await importOf(limits.priceImportRowsKeptDays - 1),
    ];
    expect((await applyRetention()).priceImportRows).to.be.at.least(1);
    const left = await PriceImportRowModel.find({ importId: { $in: [old, ending, young] } });
    expect(left.map(({ importId }) => importId)).to.have.members([ending, young]);
    const by = { actor: 'test', from: null, reason: 'test' };
    for (const id of [old, ending]) {
      const error = await undoImport(id, by).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ConflictError);
      expect(String(error)).to.include('older than 400 days');
    }
    // The offer does not exist, so nothing is undone.
    expect(await undoImport(young, by)).to.deep.include({ undone: 0 });
  });
});
