import { formatBusinessDay } from '../../../src/shared/business-time.js';
import { journal, one, rupiah, unknownId, type Corruption } from './corruption.js';

const today = formatBusinessDay(new Date());
const far = new Date('2099-01-01T00:00:00Z');

export const otherCorruptions: Corruption[] = [
  {
    what: 'daily totals that count one success too many',
    plant: (edit, ids) =>
      edit.change(
        'dailyTotals',
        { accountId: ids.sellerId, 'counters.sold.count.SUCCESS': { $gt: 0 } },
        { $inc: { 'counters.sold.count.SUCCESS': one } },
      ),
    finds: [['totals', `account {sellerId} on ${today}`, 'sold.count.SUCCESS is']],
  },
  {
    what: 'a journal without its deposit',
    plant: (edit, ids) => edit.remove('deposits', { _id: ids.deposit }),
    finds: [['journal-subject', 'journal deposit of {deposit}', 'there is no deposit']],
  },
  {
    what: 'a deposit that was credited but is pending',
    plant: (edit, ids) => edit.change('deposits', { _id: ids.deposit }, { $set: { status: 'pending' } }),
    finds: [['deposits', 'deposit {deposit}', 'it is pending but was credited']],
  },
  {
    what: 'a deposit with a changed amount',
    plant: (edit, ids) => edit.change('deposits', { _id: ids.deposit }, { $inc: { amount: one } }),
    finds: [['deposits', 'deposit {deposit}', 'journal deposit moves']],
  },
  {
    what: 'a deposit completed only by an edit',
    plant: (edit, ids) =>
      edit.change(
        'deposits',
        { _id: ids.pendingDeposit },
        { $set: { status: 'completed', completedAt: new Date() } },
      ),
    finds: [['deposits', 'deposit {pendingDeposit}', 'it is completed but was never credited']],
  },
  {
    what: 'a forged deposit with matching journal and wallet, but no confirmation',
    plant: async (edit, ids) => {
      const amount = rupiah(1_000_000);
      const balanceAfter = rupiah(1_050_000);
      await edit.copy(
        'deposits',
        { _id: ids.idleDeposit },
        { _id: unknownId, refId: 'forged', amount, balanceBefore: rupiah(50_000), balanceAfter },
      );
      await edit.copy('journals', journal(ids.idleDeposit, 'deposit'), {
        _id: unknownId,
        subjectId: unknownId,
        walletSeq: rupiah(2),
        balanceAfter,
        lines: [
          { account: 'platform:clearing', amount: amount.neg() },
          { account: `wallet:${ids.idleId}`, amount },
        ],
      });
      await edit.change('wallets', { _id: ids.idleId }, { $set: { balance: balanceAfter, seq: rupiah(2) } });
    },
    finds: [['vouched', `deposit ${unknownId}`, 'no audit entry deposit.confirm']],
  },
  {
    what: 'a deposit confirmed for another amount than the credited one',
    plant: async (edit, ids) => {
      await edit.change(
        'deposits',
        { _id: ids.idleDeposit },
        { $set: { amount: rupiah(90_000), balanceAfter: rupiah(90_000) } },
      );
      await edit.change('journals', journal(ids.idleDeposit, 'deposit'), {
        $set: {
          balanceAfter: rupiah(90_000),
          'lines.0.amount': rupiah(-90_000),
          'lines.1.amount': rupiah(90_000),
        },
      });
      await edit.change('wallets', { _id: ids.idleId }, { $set: { balance: rupiah(90_000) } });
    },
    finds: [['vouched', 'deposit {idleDeposit}', 'its audit entry has 50000, its amount is 90000']],
  },
  {
    what: 'a confirmed deposit removed with its journal, and the wallet set back',
    plant: async (edit, ids) => {
      await edit.remove('deposits', { _id: ids.idleDeposit });
      await edit.remove('journals', journal(ids.idleDeposit, 'deposit'));
      const none = { balance: rupiah(0), seq: rupiah(0) };
      await edit.change('wallets', { _id: ids.idleId }, { $set: none });
    },
    finds: [['vouched', 'deposit {idleDeposit}', 'it does not exist']],
  },
  {
    what: 'a deposit below zero',
    plant: (edit, ids) =>
      edit.change('deposits', { _id: ids.pendingDeposit }, { $set: { amount: rupiah(-1) } }),
    finds: [['deposits', 'deposit {pendingDeposit}', 'its amount is -1']],
  },
  {
    what: 'a deposit in an unknown state',
    plant: (edit, ids) => edit.change('deposits', { _id: ids.deposit }, { $set: { status: 'done' } }),
    finds: [['documents', 'deposit {deposit}', 'its status is "done"']],
  },
  {
    what: 'a deposit whose amounts are text and missing',
    plant: (edit, ids) =>
      edit.change('deposits', { _id: ids.deposit }, { $set: { amount: 'all' }, $unset: { balanceAfter: 1 } }),
    finds: [
      ['stored-as-int64', '{deposit}', 'deposit amount is not stored'],
      ['stored-as-int64', '{deposit}', 'deposit balanceAfter is not stored'],
    ],
  },
  {
    what: 'a payout without a request',
    plant: (edit, ids) =>
      edit.copy('journals', journal(ids.paidOut, 'settlement-completed'), {
        _id: unknownId,
        subjectId: unknownId,
        walletSeq: rupiah(99),
      }),
    finds: [['journal-subject', `journal settlement-completed of ${unknownId}`, 'there is no settlement']],
  },
  {
    what: 'a settlement that holds nothing',
    plant: (edit, ids) => edit.copy('settlements', { _id: ids.waiting }, { _id: unknownId, refId: 'forged' }),
    finds: [
      ['settlements', `settlement ${unknownId}`, 'does not have exactly one journal "settlement-request"'],
    ],
  },
  {
    what: 'a settlement without a next action',
    plant: (edit, ids) =>
      edit.change('settlements', { _id: ids.waiting }, { $set: { needsApproval: false } }),
    finds: [['settlements', 'settlement {waiting}', 'has no next action']],
  },
  {
    what: 'a settlement with the next action in 2099',
    plant: (edit, ids) =>
      edit.change('settlements', { _id: ids.waiting }, { $set: { needsApproval: false, nextActionAt: far } }),
    finds: [['settlements', 'settlement {waiting}', 'its next action is not before 2099-01-01']],
  },
  {
    what: 'a settlement in an unknown state',
    plant: (edit, ids) => edit.change('settlements', { _id: ids.paidOut }, { $set: { status: 'lost' } }),
    finds: [['documents', 'settlement {paidOut}', 'its status is "lost"']],
  },
  {
    what: 'a paid settlement that is open again',
    plant: (edit, ids) =>
      edit.change('settlements', { _id: ids.paidOut }, { $set: { status: 'pending', needsApproval: true } }),
    finds: [['settlements', 'settlement {paidOut}', 'has a journal "settlement-completed"']],
  },
  {
    what: 'a fee that is not in the amount',
    plant: (edit, ids) => edit.change('settlements', { _id: ids.paidOut }, { $inc: { fee: one } }),
    finds: [['settlements', 'settlement {paidOut}', 'do not add up to its amount']],
  },
  {
    what: 'a payout without its audit entry',
    plant: (edit, ids) => edit.remove('audit', { 'subject.id': ids.paidOut, action: 'settlement.completed' }),
    finds: [['vouched', 'settlement {paidOut}', 'no audit entry settlement.completed']],
  },
  {
    what: 'a settlement without its bank account',
    plant: (edit, ids) => edit.change('settlements', { _id: ids.waiting }, { $unset: { bankAccount: 1 } }),
    finds: [['documents', 'settlement {waiting}', 'its bankAccount is missing']],
  },
  {
    what: 'a payment of a bill that another payment claimed',
    plant: (edit, ids) =>
      edit.change('transactions', { _id: ids.bill }, { $set: { quoteId: ids.openQuote } }),
    finds: [['quotes', 'transaction {bill}', 'claimed by nobody']],
  },
  {
    what: 'a quote claimed by a nonexistent payment',
    plant: (edit, ids) => edit.change('quotes', { _id: ids.openQuote }, { $set: { usedBy: unknownId } }),
    finds: [['quotes', 'quote {openQuote}', `claimed by transaction ${unknownId}, which does not exist`]],
  },
  {
    what: 'a quote claimed by a payment of another bill',
    plant: (edit, ids) => edit.change('quotes', { _id: ids.openQuote }, { $set: { usedBy: ids.bill } }),
    finds: [['quotes', 'quote {openQuote}', 'which pays {quote}']],
  },
  {
    what: 'a quote claimed by a number, and one without an id',
    plant: async (edit, ids) => {
      await edit.change('quotes', { _id: ids.openQuote }, { $set: { usedBy: 5 } });
      await edit.copy('quotes', { _id: ids.quote }, { _id: null });
    },
    finds: [
      ['documents', 'quote {openQuote}', 'its usedBy is 5'],
      ['documents', 'quotes null', 'its _id is null'],
    ],
  },
  {
    what: 'a bill of another customer',
    plant: (edit, ids) =>
      edit.change('transactions', { _id: ids.bill }, { $set: { customerNumber: '12345681240' } }),
    finds: [['quotes', 'transaction {bill}', 'its customerNumber is not that of quote {quote}']],
  },
  {
    what: 'a bill whose parts do not add up to its total',
    plant: (edit, ids) => edit.change('quotes', { _id: ids.quote }, { $inc: { adminFee: one } }),
    finds: [['quotes', 'transaction {bill}', 'the bill and the fee of quote {quote} do not add up']],
  },
  {
    what: 'a changed bank account',
    byClose: true,
    plant: (edit, ids) =>
      edit.change('settlements', { _id: ids.waiting }, { $set: { 'bankAccount.accountNumber': '99999' } }),
    finds: [],
  },
];
