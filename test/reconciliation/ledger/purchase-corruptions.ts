import { journal, one, rupiah, unknownId, type Corruption } from './corruption.js';

const far = new Date('2099-01-01T00:00:00Z');

export const purchaseCorruptions: Corruption[] = [
  {
    what: 'journals without their transaction',
    plant: (edit, ids) => edit.remove('transactions', { _id: ids.success }),
    finds: [
      ['journal-subject', 'journal success of {success}', 'there is no transaction'],
      ['attempts', '{success}', 'a transaction that does not exist'],
      ['seller-credits', '{success}', 'a transaction that does not exist'],
    ],
  },
  {
    what: 'a success without its journal',
    plant: (edit, ids) => edit.remove('journals', journal(ids.success, 'success')),
    finds: [
      ['transaction-journals', 'transaction {success}', 'has 0 journals "success", expected 1'],
      ['suspense-total', 'platform:suspense', 'open transactions total'],
    ],
  },
  {
    what: 'a failure that was never refunded',
    plant: (edit, ids) => edit.remove('journals', journal(ids.failed, 'refund')),
    finds: [
      ['transaction-journals', 'transaction {failed}', 'has 0 journals "refund"'],
      ['wallet-sequence', 'wallet {buyerId}', 'comes'],
      ['suspense-total', 'platform:suspense', 'open transactions total'],
    ],
  },
  {
    what: 'a price other than the debited one',
    plant: (edit, ids) => edit.change('transactions', { _id: ids.failed }, { $inc: { price: one } }),
    finds: [['transaction-journals', 'transaction {failed}', 'journal purchase moves']],
  },
  {
    what: 'a success turned into a failure',
    plant: (edit, ids) => edit.change('transactions', { _id: ids.success }, { $set: { status: 'FAILED' } }),
    finds: [
      ['transaction-journals', 'transaction {success}', 'which that state does not have'],
      ['attempts', 'transaction {success}', 'attempt 1 was bought'],
      ['seller-credits', 'transaction {success}', 'has a seller credit'],
    ],
  },
  {
    what: 'a purchase in an unknown state',
    plant: (edit, ids) => edit.change('transactions', { _id: ids.success }, { $set: { status: 'DONE' } }),
    finds: [['documents', 'transaction {success}', 'its status is "DONE"']],
  },
  {
    what: 'a purchase without status, price and dates',
    plant: (edit, ids) =>
      edit.change('transactions', { _id: ids.open }, { $unset: { status: 1, price: 1, createdAt: 1 } }),
    finds: [
      ['documents', 'transaction {open}', 'its status is missing'],
      ['documents', 'transaction {open}', 'its createdAt is missing'],
      ['stored-as-int64', '{open}', 'transaction price is not stored'],
    ],
  },
  {
    what: 'a purchase whose id is a number, and one whose id is null',
    plant: async (edit, ids) => {
      await edit.copy('transactions', { _id: ids.open }, { _id: 12, refId: 'a' });
      await edit.copy('transactions', { _id: ids.open }, { _id: null, refId: 'b' });
    },
    finds: [
      ['documents', 'transactions 12', 'its _id is 12'],
      ['documents', 'transactions null', 'its _id is null'],
    ],
  },
  {
    what: 'an open purchase without a next action',
    plant: (edit, ids) => edit.change('transactions', { _id: ids.open }, { $set: { nextActionAt: null } }),
    finds: [['transaction-state', 'transaction {open}', 'has no next action']],
  },
  {
    what: 'an open purchase with the next action in 2099',
    plant: (edit, ids) => edit.change('transactions', { _id: ids.open }, { $set: { nextActionAt: far } }),
    finds: [['transaction-state', 'transaction {open}', 'its next action is not before 2099-01-01']],
  },
  {
    what: 'a next action whose time is text',
    plant: (edit, ids) =>
      edit.change('transactions', { _id: ids.open }, { $set: { nextActionAt: '2026-01-01T00:00:00Z' } }),
    finds: [['documents', 'transaction {open}', 'its nextActionAt is "2026-01-01']],
  },
  {
    what: 'a final purchase with a next action',
    plant: (edit, ids) =>
      edit.change('transactions', { _id: ids.failed }, { $set: { nextActionAt: new Date() } }),
    finds: [['transaction-state', 'transaction {failed}', 'still has a next action']],
  },
  {
    what: 'a final purchase under review',
    plant: (edit, ids) =>
      edit.change('transactions', { _id: ids.failed }, { $set: { reviewSince: new Date() } }),
    finds: [['transaction-state', 'transaction {failed}', 'still waits for a decision']],
  },
  {
    what: 'an undecidable review: a bought order of a purchase that was never sent',
    plant: async (edit, ids) => {
      await edit.copy(
        'attempts',
        { _id: `${ids.success}-1` },
        { _id: `${ids.open}-1`, transactionId: ids.open },
      );
      await edit.change(
        'transactions',
        { _id: ids.open },
        { $set: { reviewSince: new Date(), nextActionAt: null } },
      );
    },
    finds: [['transaction-state', 'transaction {open}', 'cannot be made: it is PENDING, and attempt 1']],
  },
  {
    what: 'an attempt of a final purchase that is open again',
    plant: (edit, ids) =>
      edit.change('attempts', { _id: `${ids.success}-1` }, { $set: { open: true, status: 'UNKNOWN' } }),
    finds: [['attempts', 'transaction {success}', 'attempt 1 is still open']],
  },
  {
    what: 'two open attempts under an index of the right name and another filter',
    plant: async (edit, ids) => {
      const key = { accountId: 1, transactionId: 1 };
      const partialFilterExpression = { status: 'NONE' };
      const options = { unique: true, partialFilterExpression };
      await edit.index('attempts', 'account_one_open_attempt', { key, options });
      await edit.copy('attempts', { _id: `${ids.processing}-1` }, { _id: `${ids.processing}-2`, n: 2 });
    },
    finds: [
      ['unique-indexes', 'index attempts.account_one_open_attempt', 'its filter is {"status":"NONE"}'],
      ['attempts', 'transaction {processing}', '2 attempts are open'],
    ],
  },
  {
    what: 'an order for more than was debited',
    plant: (edit, ids) =>
      edit.change('attempts', { _id: `${ids.success}-1` }, { $inc: { offerPrice: rupiah(1_000_000) } }),
    finds: [['attempts', 'transaction {success}', 'more than the 500025 debited']],
  },
  {
    what: 'the only attempt of a failure deleted',
    plant: (edit, ids) => edit.remove('attempts', { _id: `${ids.failed}-1` }),
    finds: [['attempts', 'transaction {failed}', 'no attempt went to a seller']],
  },
  {
    what: 'the last attempt deleted, after an earlier one at the same seller',
    plant: (edit, ids) => edit.change('transactions', { _id: ids.failed }, { $inc: { version: 1 } }),
    finds: [['attempts', 'transaction {failed}', 'implies 2 sent attempts, but 1 are stored']],
  },
  {
    what: 'the attempt of an order in progress deleted',
    plant: (edit, ids) => edit.remove('attempts', { _id: `${ids.processing}-1` }),
    finds: [['attempts', 'transaction {processing}', 'implies 1 sent attempts, but 0 are stored']],
  },
  {
    what: 'an attempt in an unknown state',
    plant: (edit, ids) =>
      edit.change('attempts', { _id: `${ids.processing}-1` }, { $set: { status: 'MAYBE' } }),
    finds: [['documents', 'attempt {processing}-1', 'its status is "MAYBE"']],
  },
  {
    what: 'an attempt without price, number and state',
    plant: (edit, ids) =>
      edit.change(
        'attempts',
        { _id: `${ids.failed}-1` },
        { $unset: { offerPrice: 1, n: 1, status: 1, open: 1 } },
      ),
    finds: [
      ['documents', 'attempt {failed}-1', 'its n is missing'],
      ['documents', 'attempt {failed}-1', 'its status is missing'],
      ['stored-as-int64', '{failed}', 'offerPrice is not stored'],
    ],
  },
  {
    what: 'an attempt without a transaction, followed by another corruption',
    plant: async (edit, ids) => {
      const changes = { _id: `${unknownId}-1`, transactionId: null, n: 9 };
      await edit.copy('attempts', { _id: `${ids.failed}-1` }, changes);
      await edit.change('attempts', { _id: `${ids.success}-1` }, { $inc: { offerPrice: rupiah(1_000_000) } });
    },
    finds: [
      ['documents', `attempts ${unknownId}-1`, 'its transactionId is null'],
      ['attempts', 'transaction {success}', 'debited'],
    ],
  },
  {
    what: "an attempt's rate changed after the sale",
    plant: (edit, ids) =>
      edit.change('attempts', { _id: `${ids.success}-1` }, { $set: { commissionRate: 0.01 } }),
    finds: [['seller-credits', 'transaction {success}', 'its commission is 10001, at the rate 0.01']],
  },
  {
    what: 'a rate that is text',
    plant: (edit, ids) =>
      edit.change('attempts', { _id: `${ids.success}-1` }, { $set: { commissionRate: '0.02' } }),
    finds: [['documents', 'attempt {success}-1', 'its commissionRate is "0.02"']],
  },
  {
    what: "an attempt's seller changed after the sale",
    plant: (edit, ids) =>
      edit.change('attempts', { _id: `${ids.reversed}-1` }, { $set: { sellerId: ids.idleId } }),
    finds: [['attempts', 'transaction {reversed}', 'attempt 1, which was bought, went to {idleId}']],
  },
  {
    what: "a refused attempt's seller changed",
    plant: (edit, ids) =>
      edit.change('attempts', { _id: `${ids.failed}-1` }, { $set: { sellerId: ids.idleId } }),
    finds: [['attempts', 'transaction {failed}', 'the last attempt went to {idleId}']],
  },
  {
    what: 'a wrong commission on which purchase, journal and credit agree',
    plant: async (edit, ids) => {
      const shift = { commissionAmount: rupiah(1_000) };
      await edit.change('transactions', { _id: ids.unposted }, { $inc: shift });
      await edit.change('journals', journal(ids.unposted, 'success'), {
        $inc: { 'lines.1.amount': rupiah(-1_000), 'lines.2.amount': rupiah(1_000) },
      });
      await edit.change('sellerCredits', { _id: ids.unposted }, { $inc: { amount: rupiah(-1_000) } });
    },
    finds: [['seller-credits', 'transaction {unposted}', 'its commission is 11001, at the rate 0.02']],
  },
  {
    what: 'a serial number changed only in the purchase',
    plant: (edit, ids) =>
      edit.change('transactions', { _id: ids.success }, { $set: { serialNumber: '1234' } }),
    finds: [['attempts', 'transaction {success}', 'its serial number differs from that of attempt 1']],
  },
  {
    what: 'a reversal without a decision',
    plant: (edit, ids) => edit.remove('audit', { 'subject.id': ids.reversed, action: 'transaction.reverse' }),
    finds: [['vouched', 'transaction {reversed}', 'no audit entry transaction.reverse']],
  },
  {
    what: 'two purchases with one ref_id, under an index of the right name and other keys',
    plant: async (edit, ids) => {
      const key = { accountId: 1, refId: 1, _id: 1 };
      await edit.index('transactions', 'account_ref_unique', { key, options: { unique: true } });
      const { refId } = await edit.read('transactions', { _id: ids.success });
      await edit.change('transactions', { _id: ids.failed }, { $set: { refId } });
    },
    finds: [
      [
        'unique-indexes',
        'index transactions.account_ref_unique',
        'its keys are {"accountId":1,"refId":1,"_id":1}',
      ],
    ],
  },
  {
    what: 'a missing unique index',
    plant: (edit) => edit.index('attempts', 'account_one_open_attempt', null),
    finds: [['unique-indexes', 'index attempts.account_one_open_attempt', 'it is missing']],
  },
  {
    what: 'a sale whose seller was never credited',
    plant: (edit, ids) => edit.remove('sellerCredits', { _id: ids.success }),
    finds: [['seller-credits', 'transaction {success}', 'the seller credit {success} is missing']],
  },
  {
    what: 'a seller credit with another amount than its sale and its posting',
    plant: (edit, ids) => edit.change('sellerCredits', { _id: ids.success }, { $inc: { amount: one } }),
    finds: [['seller-credits', 'transaction {success}', 'seller credit {success} gives 490025']],
  },
  {
    what: 'a credit that could be posted a second time',
    plant: (edit, ids) =>
      edit.change('sellerCredits', { _id: ids.success }, { $set: { status: 'new', postingId: null } }),
    finds: [
      ['seller-credits', 'posting {posting}', ''],
      ['payable-total', 'payable', 'unposted credits total'],
    ],
  },
  {
    what: 'a lost posting',
    plant: (edit, ids) => edit.remove('journals', journal(ids.posting, 'seller-posting')),
    finds: [
      ['seller-credits', 'posting {posting}', 'which has no journal'],
      ['payable-total', 'payable', 'unposted credits total'],
      ['wallet-sequence', 'wallet {sellerId}', 'comes'],
    ],
  },
  {
    what: 'a credit in an unknown state',
    plant: (edit, ids) => edit.change('sellerCredits', { _id: ids.unposted }, { $set: { status: 'paid' } }),
    finds: [['documents', 'seller credit {unposted}', 'its status is "paid"']],
  },
  {
    what: 'a credit that names a posting by a number, and has no seller',
    plant: (edit, ids) =>
      edit.change(
        'sellerCredits',
        { _id: ids.unposted },
        { $set: { postingId: 5 }, $unset: { sellerId: 1 } },
      ),
    finds: [
      ['documents', 'seller credit {unposted}', 'its postingId is 5'],
      ['documents', 'seller credit {unposted}', 'its sellerId is missing'],
    ],
  },
  {
    what: 'a credit of another transaction',
    plant: (edit, ids) =>
      edit.change('sellerCredits', { _id: ids.unposted }, { $set: { transactionId: ids.failed } }),
    finds: [['seller-credits', 'transaction {unposted}', 'seller credit {unposted} belongs to {failed}']],
  },
  {
    what: 'a credit without a sale',
    plant: (edit, ids) => edit.copy('sellerCredits', { _id: ids.unposted }, { _id: `${ids.unposted}-bonus` }),
    finds: [['seller-credits', '{unposted}-bonus', 'a transaction that does not exist']],
  },
  {
    what: 'an open purchase whose debit journal is gone',
    plant: (edit, ids) => edit.remove('journals', journal(ids.open, 'purchase')),
    finds: [
      ['transaction-journals', 'transaction {open}', 'has 0 journals "purchase"'],
      ['suspense-total', 'platform:suspense', 'open transactions total'],
    ],
  },
  {
    what: 'a purchase moved to another buyer',
    plant: (edit, ids) => edit.change('transactions', { _id: ids.open }, { $set: { accountId: ids.idleId } }),
    finds: [['transaction-journals', 'transaction {open}', 'on wallet:{buyerId}']],
  },
  {
    what: 'a changed ref_id',
    byClose: true,
    plant: (edit, ids) => edit.change('transactions', { _id: ids.success }, { $set: { refId: 'changed' } }),
    finds: [],
  },
  {
    what: 'a changed customer number',
    byClose: true,
    plant: (edit, ids) =>
      edit.change('transactions', { _id: ids.success }, { $set: { customerNumber: '081299999999' } }),
    finds: [],
  },
  {
    what: 'a serial number changed in purchase and attempt',
    byClose: true,
    plant: async (edit, ids) => {
      await edit.change('transactions', { _id: ids.success }, { $set: { serialNumber: 'x' } });
      await edit.change('attempts', { _id: `${ids.success}-1` }, { $set: { serialNumber: 'x' } });
    },
    finds: [],
  },
  {
    what: "a refused attempt's rate changed",
    byClose: true,
    plant: (edit, ids) =>
      edit.change('attempts', { _id: `${ids.failed}-1` }, { $set: { commissionRate: 0.5 } }),
    finds: [],
  },
];
