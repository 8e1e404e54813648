import { Long } from 'mongodb';
import { journal, one, rupiah, unknownId, type Corruption } from './corruption.js';
import type { Edit } from './edit.js';
import type { Ids } from './history.js';

/** Builds a journal between platform accounts that is consistent in itself. */
export const platformJournal = (changes: object) => ({
  _id: unknownId,
  kind: 'success',
  subjectId: unknownId,
  walletId: null,
  walletSeq: null,
  balanceAfter: null,
  lines: [
    { account: 'platform:revenue', amount: rupiah(-90_000) },
    { account: 'platform:bank', amount: rupiah(90_000) },
  ],
  createdAt: new Date(),
  ...changes,
});

/**
 * The idle buyer buys for more than its balance. The wallet, journal and purchase agree with each
 * other.
 */
async function overdraw(edit: Edit, { open, idleId }: Ids): Promise<void> {
  const price = rupiah(60_000);
  await edit.copy('transactions', { _id: open }, { _id: unknownId, accountId: idleId, price });
  await edit.copy('journals', journal(open, 'purchase'), {
    _id: unknownId,
    subjectId: unknownId,
    accountId: idleId,
    walletId: idleId,
    walletSeq: rupiah(2),
    balanceAfter: rupiah(-10_000),
    lines: [
      { account: `wallet:${idleId}`, amount: price.neg() },
      { account: 'platform:suspense', amount: price },
    ],
  });
  await edit.change('wallets', { _id: idleId }, { $set: { balance: rupiah(-10_000), seq: rupiah(2) } });
}

export const walletCorruptions: Corruption[] = [
  {
    what: 'a journal line that is one rupiah off',
    plant: (edit, ids) =>
      edit.change('journals', journal(ids.success, 'success'), { $inc: { 'lines.2.amount': one } }),
    finds: [
      ['journal-balances', 'journal success of {success}', 'sum to 1, not to 0'],
      ['transaction-journals', 'transaction {success}', 'platform:revenue'],
    ],
  },
  {
    what: 'a journal that touches a wallet it does not name',
    plant: (edit, ids) =>
      edit.change('journals', journal(ids.success, 'success'), {
        $set: { 'lines.1.account': `wallet:${ids.idleId}` },
      }),
    finds: [['journal-balances', 'journal success of {success}', 'moves money of wallet {idleId}']],
  },
  {
    what: 'a journal of an unknown kind, from revenue to bank',
    plant: (edit) => edit.add('journals', platformJournal({ kind: 'bonus' })),
    finds: [['journal-subject', `journal bonus of ${unknownId}`, 'the kind "bonus" is unknown']],
  },
  {
    what: 'a journal of an unknown kind in addition to those of a purchase',
    plant: (edit, ids) => edit.add('journals', platformJournal({ kind: 'refund2', subjectId: ids.success })),
    finds: [['journal-subject', 'journal refund2 of {success}', 'the kind "refund2" is unknown']],
  },
  {
    what: 'a journal of a known kind whose subject does not exist',
    plant: (edit) => edit.add('journals', platformJournal({})),
    finds: [['journal-subject', `journal success of ${unknownId}`, 'there is no transaction']],
  },
  {
    what: 'a journal whose subjectId is null',
    plant: (edit) => edit.add('journals', platformJournal({ subjectId: null })),
    finds: [['documents', `journals ${unknownId}`, 'its subjectId is null']],
  },
  {
    what: 'a journal whose subjectId is null, followed by another corruption',
    plant: async (edit, ids) => {
      await edit.add('journals', platformJournal({ subjectId: null }));
      await edit.change('journals', journal(ids.success, 'success'), { $inc: { 'lines.2.amount': one } });
    },
    finds: [
      ['documents', `journals ${unknownId}`, 'its subjectId is null'],
      ['journal-balances', 'journal success of {success}', 'sum to 1'],
    ],
  },
  {
    what: 'a journal without subjectId, and one whose subjectId is an object',
    plant: async (edit) => {
      await edit.add('journals', platformJournal({ subjectId: undefined }));
      await edit.add('journals', platformJournal({ _id: 'e'.repeat(32), subjectId: { id: 1 } }));
    },
    finds: [
      ['documents', `journals ${unknownId}`, 'its subjectId is missing'],
      ['documents', `journals ${'e'.repeat(32)}`, 'its subjectId is {"id":1}'],
    ],
  },
  {
    what: 'a journal with no lines',
    plant: (edit, ids) => edit.change('journals', journal(ids.success, 'success'), { $set: { lines: [] } }),
    finds: [['journal-balances', 'journal success of {success}', 'it has no lines']],
  },
  {
    what: 'a journal without the field lines',
    plant: (edit, ids) => edit.change('journals', journal(ids.success, 'success'), { $unset: { lines: 1 } }),
    finds: [
      ['documents', 'journal success of {success}', 'its lines is missing'],
      ['journal-balances', 'journal success of {success}', 'it has no lines'],
    ],
  },
  {
    what: 'journals of a wallet without lines and with a null line',
    plant: async (edit, ids) => {
      await edit.change('journals', journal(ids.open, 'purchase'), { $unset: { lines: 1 } });
      await edit.change('journals', journal(ids.idleDeposit, 'deposit'), { $set: { 'lines.1': null } });
    },
    finds: [
      ['documents', 'journal purchase of {open}', 'its lines is missing'],
      ['documents', 'journal deposit of {idleDeposit}', 'line 2'],
    ],
  },
  {
    what: 'a journal amount that is text',
    plant: (edit, ids) =>
      edit.change('journals', journal(ids.open, 'purchase'), { $set: { 'lines.0.amount': '10500' } }),
    finds: [['stored-as-int64', '{open}', 'journal purchase amount of wallet:{buyerId}']],
  },
  {
    what: 'a price stored as a double',
    plant: async (edit, ids) => {
      const found = await edit.read('transactions', { _id: ids.success });
      await edit.change('transactions', { _id: ids.success }, { $set: { price: Number(found['price']) } });
    },
    finds: [['stored-as-int64', '{success}', 'price is not stored as a safe int64']],
  },
  {
    what: 'a lost wallet journal',
    plant: (edit, ids) => edit.remove('journals', journal(ids.deposit, 'deposit')),
    finds: [
      ['wallet-sequence', 'wallet {buyerId}', 'after journal 0 comes 2'],
      ['wallet-balance', 'wallet {buyerId}', 'its lines make'],
      ['deposits', 'deposit {deposit}', 'never credited'],
    ],
  },
  {
    what: 'a wallet change without a journal',
    plant: (edit, ids) => edit.change('wallets', { _id: ids.buyerId }, { $inc: { seq: one } }),
    finds: [['wallet-sequence', 'wallet {buyerId}', 'its journals end at']],
  },
  {
    what: 'a wallet whose seq is below that of its journals',
    plant: (edit, ids) => edit.change('wallets', { _id: ids.idleId }, { $inc: { seq: rupiah(-1) } }),
    finds: [['wallet-sequence', 'wallet {idleId}', 'beyond its seq 0']],
  },
  {
    what: 'a balance one rupiah too high',
    plant: (edit, ids) => edit.change('wallets', { _id: ids.buyerId }, { $inc: { balance: one } }),
    finds: [['wallet-balance', 'wallet {buyerId}', 'its journals make']],
  },
  {
    what: 'held money that no journal explains',
    plant: (edit, ids) => edit.change('wallets', { _id: ids.sellerId }, { $inc: { held: one } }),
    finds: [['wallet-balance', 'wallet {sellerId}', 'it holds 80001']],
  },
  {
    what: 'a journal with a wrong balance after it',
    plant: (edit, ids) =>
      edit.change('journals', journal(ids.open, 'purchase'), { $inc: { balanceAfter: one } }),
    finds: [['wallet-balance', 'wallet {buyerId}', '(purchase of {open}) has balance']],
  },
  {
    what: 'a negative buyer wallet, by a purchase on which all rows agree',
    plant: overdraw,
    finds: [['wallet-balance', 'wallet {idleId}', 'takes it below zero, to -10000']],
  },
  {
    what: "a posting of seller credits to a buyer's wallet",
    plant: async (edit, ids) => {
      await edit.change('accounts', { _id: ids.sellerId }, { $set: { role: 'buyer' } });
    },
    finds: [['wallet-account', 'wallet {sellerId}', 'only a seller may have a journal seller-posting']],
  },
  {
    what: 'a wallet whose balance is text',
    plant: (edit, ids) => edit.change('wallets', { _id: ids.idleId }, { $set: { balance: '50000' } }),
    finds: [['stored-as-int64', 'wallet {idleId}', 'wallet balance is not stored as a safe int64']],
  },
  {
    what: 'a wallet without a balance',
    plant: (edit, ids) => edit.change('wallets', { _id: ids.idleId }, { $unset: { balance: 1, seq: 1 } }),
    finds: [['stored-as-int64', 'wallet {idleId}', 'wallet seq is not stored as a safe int64']],
  },
  {
    what: 'a wallet whose id is a number, and an account whose id is null',
    plant: async (edit) => {
      await edit.add('wallets', { _id: 7, balance: Long.ZERO, held: Long.ZERO, seq: Long.ZERO });
      await edit.add('accounts', { _id: null, username: 'nobody', role: 'buyer' });
    },
    finds: [
      ['documents', 'wallets 7', 'its _id is 7'],
      ['documents', 'accounts null', 'its _id is null'],
    ],
  },
  {
    what: 'an account without a wallet',
    plant: (edit, ids) => edit.remove('wallets', { _id: ids.idleId }),
    finds: [['wallet-account', 'wallet {idleId}', 'the account has no wallet']],
  },
  {
    what: 'a wallet without an account',
    plant: (edit) =>
      edit.add('wallets', { _id: unknownId, balance: Long.ZERO, held: Long.ZERO, seq: Long.ZERO }),
    finds: [['wallet-account', `wallet ${unknownId}`, 'the wallet has no account']],
  },
  {
    what: 'two journals of one movement under an index that is not unique',
    plant: async (edit, ids) => {
      await edit.index('journals', 'account_subject_kind_unique', {
        key: { accountId: 1, subjectId: 1, kind: 1 },
      });
      await edit.copy('journals', journal(ids.success, 'success'), { _id: unknownId });
    },
    finds: [
      ['unique-indexes', 'index journals.account_subject_kind_unique', 'it is not unique'],
      ['transaction-journals', 'transaction {success}', 'has 2 journals "success", expected 1'],
    ],
  },
  {
    what: 'a journal of another account than its wallet',
    plant: (edit, ids) =>
      edit.change('journals', journal(ids.open, 'purchase'), { $set: { accountId: unknownId } }),
    finds: [
      ['journal-balances', 'journal purchase of {open}', `its account is ${unknownId}, but its wallet is`],
    ],
  },
  {
    what: 'a journal without an account',
    plant: (edit, ids) =>
      edit.change('journals', journal(ids.open, 'purchase'), { $unset: { accountId: '' } }),
    finds: [['documents', 'journal purchase of {open}', 'its accountId is missing']],
  },
  {
    what: 'a journal whose wallet is a number',
    plant: (edit, ids) => edit.change('journals', journal(ids.open, 'purchase'), { $set: { walletId: 5 } }),
    finds: [
      ['documents', 'journal purchase of {open}', 'its walletId is 5'],
      ['wallet-sequence', 'wallet {buyerId}', 'its journals end at'],
    ],
  },
  {
    what: 'a success that names a wallet',
    plant: (edit, ids) =>
      edit.change('journals', journal(ids.success, 'success'), {
        $set: {
          accountId: ids.idleId,
          walletId: ids.idleId,
          walletSeq: rupiah(2),
          balanceAfter: rupiah(50_000),
        },
      }),
    finds: [['journal-balances', 'journal success of {success}', 'must name no wallet']],
  },
  {
    what: 'the newest purchase removed with its journal, and the wallet set back',
    byClose: true,
    plant: async (edit, ids) => {
      const last = await edit.read('journals', journal(ids.open, 'purchase'));
      await edit.remove('journals', { _id: last['_id'] });
      await edit.remove('transactions', { _id: ids.open });
      await edit.change(
        'wallets',
        { _id: ids.buyerId },
        { $inc: { seq: rupiah(-1), balance: last['lines'][1].amount } },
      );
    },
    finds: [],
  },
];
