import { expect } from 'chai';
import { migrate } from '../../src/database/migrate.js';
import { eraseCustomer } from '../../src/privacy/erase-customer.js';
import { purchases } from '../../src/purchases/purchase.model.js';
import { closeLedger } from '../../src/reconciliation/closes/close-ledger.js';
import { verifyLedger } from '../../src/reconciliation/ledger/verify-ledger.js';
import { setClock } from '../../src/shared/clock.js';
import { blotted, canBeSame, masked } from '../../src/shared/mask.js';
import { dayAgo, openPlay, setTime } from '../closes/ledger-play.js';
import { useDatabase } from '../webhooks/support/database.js';

describe('purchases of 0.1.0, which have no salt', () => {
  useDatabase();
  after(() => setClock(null));

  it('get one while no day is closed, and can be erased; of a closed day they keep their number, and are named', async () => {
    setTime(dayAgo(3), 9);
    const play = await openPlay();
    const [given, late] = [await play.buy(), await play.buy()];
    await play.succeed(given);
    await play.succeed(late);
    const forget = (id: string) => purchases.updateOne({ _id: id }, { $unset: { proofSalt: 1 } });
    const saltOf = async (id: string) => (await purchases.findOne({ _id: id }))?.proofSalt;
    await forget(given._id);
    await migrate();
    const salt = await saltOf(given._id);
    expect(salt).to.match(/^[\w-]{22}$/);
    await migrate();
    expect(await saltOf(given._id), 'run again').to.equal(salt);
    // Bought by a process of the release before, after the migration.
    await forget(late._id);
    await play.post();
    setTime(dayAgo(1), 1);
    await closeLedger();
    setClock(null);
    await migrate();
    expect(await saltOf(late._id)).to.equal(undefined);

    const erased = await eraseCustomer(given.customerNumber, { actor: 'cli:t', from: null, reason: 'r' });
    expect(erased).to.deep.include({
      purchases: 1,
      left: [{ transactionId: late._id, quoteId: null, why: 'closed without a proof' }],
    });
    expect((await purchases.findOne({ _id: late._id }))?.customerNumber).to.equal(late.customerNumber);
    expect((await verifyLedger(undefined, { full: true })).findings).to.deep.equal([]);
  });
});

describe('a number that is masked', () => {
  it('shows its last four characters, of a short one half, and is compared by what it shows', () => {
    expect(['081234567890', '12345678', '123456', '1234', 'A', ''].map(masked)).to.deep.equal([
      '********7890',
      '****5678',
      '***456',
      '**34',
      '*',
      '',
    ]);
    expect(blotted('081234')).to.equal('******');
    expect(canBeSame('********7890', '081234567890')).to.equal(true);
    expect(canBeSame('081234567890', '************')).to.equal(true);
    expect(canBeSame('********7890', '081234567891')).to.equal(false);
    expect(canBeSame('********7890', '0081234567890')).to.equal(false);
    expect(canBeSame('081234567890', '081234567891')).to.equal(false);
  });
});
