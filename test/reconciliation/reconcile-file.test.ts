import { expect } from 'chai';
import { createAccount } from '../../src/accounts/create-account.js';
import type { Account } from '../../src/accounts/account.model.js';
import { reconcileDay } from '../../src/reconciliation/reconcile-day.js';
import { orders } from '../../src/purchases/order.model.js';
import { newId } from '../../src/shared/ids.js';
import { useSettings } from '../support/use-settings.js';
import { useDatabase } from '../webhooks/support/database.js';

const by = { actor: 'operator:budi', from: null, reason: null };

describe("a provider's record from a file", () => {
  useDatabase();
  useSettings({ BUSINESS_TIMEZONE: 'Asia/Jakarta' });
  let seller: Account;
  before(async () => {
    const provider = { kind: 'simulator' as const, baseUrl: null, username: 'x', secret: 'y' };
    ({ account: seller } = await createAccount({ username: `s${newId()}`, role: 'seller', provider }));
  });
  const compare = (line: string, date: string) =>
    reconcileDay(seller, { date, csv: `ref_id,at,status,sn\n${line}\n` }, by);

  it('shows an unknown execution on the day that the file names, day first', async () => {
    const found = await compare('ghost-1,05/11/2026 10:00:00,Sukses,111', '2026-11-05');
    expect(found).to.include({ theirs: 1, different: 1, otherDays: 0 });
    expect(found.differences).to.deep.equal([
      { kind: 'only-provider', providerRef: 'ghost-1', ours: null, theirs: 'success 111' },
    ]);
    const another = await compare('ghost-1,05/11/2026 10:00:00,Sukses,111', '2026-05-11');
    expect(another).to.include({ theirs: 0, different: 0, otherDays: 1 });
  });

  it('shows rows of one reference that disagree as one difference', async () => {
    const row = (result: string) => `ghost-3,2026-11-05 10:00:00,${result}`;
    for (const [rows, theirs] of [
      [['Sukses,1', 'Gagal,'], 'success 1; failed'],
      [['Gagal,', 'Sukses,1'], 'failed; success 1'],
      [['Sukses,1', 'Sukses,2'], 'success 1; success 2'],
    ] as const) {
      const found = await compare(rows.map(row).join('\n'), '2026-11-05');
      expect(found).to.include({ theirs: 1, different: 1, matched: 0 });
      expect(found.differences).to.deep.equal([
        { kind: 'differs', providerRef: 'ghost-3', ours: null, theirs },
      ]);
    }
    const repeated = await compare(
      [row('Pending,'), row('Sukses,1'), row('Sukses,1')].join('\n'),
      '2026-11-05',
    );
    expect(repeated.differences).to.deep.equal([
      { kind: 'only-provider', providerRef: 'ghost-3', ours: null, theirs: 'success 1' },
    ]);
  });

  it('of IAK has our reference with an x for the dash, or with the dash', async () => {
    const provider = { kind: 'iak' as const, baseUrl: null, username: 'x', secret: 'y' };
    const { account } = await createAccount({ username: `s${newId()}`, role: 'seller', provider });
    const sold = newId();
    await orders.insertOne({
      _id: `${sold}-2`,
      transactionId: sold,
      n: 2,
      accountId: newId(),
      sellerId: account._id,
      status: 'OK',
      open: false,
      serialNumber: '111',
      createdAt: new Date('2026-11-05T03:00:00Z'),
    } as never);
    const ghost = newId();
    const rows = [`${sold}x2`, `${sold}-2`, `${ghost}x1`, `${ghost}-1`, 'order001'];
    const lines = rows.map((each) => `${each},2026-11-05 10:00:00,Sukses,111`);
    const csv = `ref_id,at,status,sn\n${lines.join('\n')}\n`;
    const found = await reconcileDay(account, { date: '2026-11-05', csv }, by);
    expect(found).to.include({ ours: 1, theirs: 3, matched: 1, different: 2 });
    expect(found.differences.map(({ providerRef }) => providerRef)).to.deep.equal([`${ghost}-1`, 'order001']);
  });

  it('has its times in the time zone of the business', async () => {
    const line = 'ghost-2,2026-11-05 23:30:00,Sukses,222';
    expect(await compare(line, '2026-11-05')).to.include({ theirs: 1, different: 1 });
    expect(await compare(line, '2026-11-06')).to.include({ theirs: 0, different: 0, otherDays: 1 });
  });
});
