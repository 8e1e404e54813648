import type { Document } from 'mongodb';
import type { Account } from '../../accounts/account.model.js';
import type { Quote } from '../../bills/quote.model.js';
import type { Deposit } from '../../deposits/deposit.model.js';
import type { SellerCredit } from '../../money/credits/seller-credit.model.js';
import type { Journal, JournalLine, LedgerAccount } from '../../money/journals/journal.model.js';
import type { Wallet } from '../../money/wallets/wallet.model.js';
import type { Order } from '../../purchases/order.model.js';
import { purchaseStatuses, type Purchase, type PurchaseStatus } from '../../purchases/purchase.model.js';
import type { Settlement } from '../../settlements/settlement.model.js';
import type { LedgerFinding } from './ledger-report.js';
import {
  anyValue,
  readFilledObject,
  flag,
  flagOrNull,
  describeValue,
  money,
  moneyOrNull,
  buildInvalidFieldFinding,
  oneOf,
  rate,
  readDocument,
  text,
  textOrNull,
  time,
  timeOrNull,
  wholeNumber,
  type DocumentName,
  type Shape,
} from './read-document.js';

/**
 * A document as the verification reads it. Fields of `Word`, such as a status, are null if the
 * stored value is unknown.
 */
type Read<T, Known extends keyof T, Word extends keyof T = never> = Pick<T, Known> & {
  [Name in Word]: T[Name] | null;
};

export type ReadJournal = Read<Journal, 'subjectId' | 'walletId' | 'walletSeq' | 'balanceAfter' | 'lines'> & {
  accountId: string;
  /** Any string, because unknown kinds are checked too. */
  kind: string;
};
export type ReadPurchase = Read<
  Purchase,
  | '_id'
  | 'accountId'
  | 'refId'
  | 'productCode'
  | 'customerNumber'
  | 'price'
  | 'quoteId'
  | 'version'
  | 'serialNumber'
  | 'sellerId'
  | 'commissionAmount'
  | 'nextActionAt'
  | 'reviewSince'
  | 'createdAt'
  | 'finalAt',
  'status' | 'kind'
> & { markup: number | null };
/** A purchase in a known state. */
export type KnownPurchase = ReadPurchase & { status: PurchaseStatus };
export type ReadOrder = Read<
  Order,
  | '_id'
  | 'transactionId'
  | 'n'
  | 'sellerId'
  | 'offerPrice'
  | 'commissionRate'
  | 'open'
  | 'sentAt'
  | 'serialNumber',
  'status'
>;
export type ReadCredit = Read<
  SellerCredit,
  '_id' | 'sellerId' | 'transactionId' | 'amount' | 'postingId',
  'status'
>;
export type ReadDeposit = Read<
  Deposit,
  '_id' | 'accountId' | 'refId' | 'amount' | 'balanceBefore' | 'balanceAfter' | 'createdAt' | 'completedAt',
  'status'
>;
export type ReadSettlement = Read<
  Settlement,
  '_id' | 'accountId' | 'amount' | 'fee' | 'netAmount' | 'needsApproval' | 'nextActionAt' | 'finalAt',
  'status' | 'bankAccount'
> & { byHand: boolean | null };
export type ReadQuote = Read<
  Quote,
  '_id' | 'accountId' | 'productCode' | 'customerNumber' | 'totalBill' | 'adminFee' | 'totalAmount' | 'usedBy'
> & { markup: number | null };
export type ReadWallet = Read<Wallet, 'balance' | 'held' | 'seq'>;
export type ReadAccount = Read<Account, '_id', 'role'>;

/** Reads the documents of one collection. */
export interface Reader<T> {
  /** Projection of the fetched fields. */
  fields: Document;
  /** @param problems Receives the findings about the document's fields. */
  read(raw: Document, problems: LedgerFinding[]): T;
}

function createReader<T extends object>(
  shape: Shape<T>,
  namedBy: (raw: Document) => DocumentName,
): Reader<T> {
  return {
    fields: Object.fromEntries(Object.keys(shape).map((field) => [field, 1])),
    read: (raw, problems) => readDocument(raw, shape, { named: () => namedBy(raw), problems }),
  };
}

export const purchases = createReader<ReadPurchase>(
  {
    _id: text,
    accountId: text,
    refId: text,
    kind: oneOf(['prepaid', 'postpaid']),
    productCode: text,
    customerNumber: text,
    price: money,
    markup: moneyOrNull,
    quoteId: textOrNull,
    status: oneOf(purchaseStatuses),
    version: wholeNumber,
    serialNumber: textOrNull,
    sellerId: textOrNull,
    commissionAmount: moneyOrNull,
    nextActionAt: timeOrNull,
    reviewSince: timeOrNull,
    createdAt: time,
    finalAt: timeOrNull,
  },
  ({ _id }) => ({ about: `transaction ${toText(_id)}`, subject: toText(_id), what: 'transaction' }),
);

export const orders = createReader<ReadOrder>(
  {
    _id: text,
    transactionId: text,
    n: wholeNumber,
    sellerId: text,
    offerPrice: money,
    commissionRate: rate,
    status: oneOf(['SENT', 'UNKNOWN', 'OK', 'REJECTED']),
    open: flag,
    sentAt: timeOrNull,
    serialNumber: textOrNull,
  },
  ({ _id, transactionId, n }) => ({
    about: `attempt ${toText(_id)}`,
    subject: toText(transactionId),
    what: `attempt ${toText(n)}`,
  }),
);

export const credits = createReader<ReadCredit>(
  {
    _id: text,
    sellerId: text,
    transactionId: text,
    amount: money,
    status: oneOf(['new', 'posted']),
    postingId: textOrNull,
  },
  ({ _id, transactionId }) => ({
    about: `seller credit ${toText(_id)}`,
    subject: toText(transactionId),
    what: `seller credit ${toText(_id)}`,
  }),
);

export const deposits = createReader<ReadDeposit>(
  {
    _id: text,
    accountId: text,
    refId: text,
    amount: money,
    status: oneOf(['pending', 'completed', 'rejected']),
    balanceBefore: money,
    balanceAfter: money,
    createdAt: time,
    completedAt: timeOrNull,
  },
  ({ _id }) => ({ about: `deposit ${toText(_id)}`, subject: toText(_id), what: 'deposit' }),
);

export const settlements = createReader<ReadSettlement>(
  {
    _id: text,
    accountId: text,
    amount: money,
    fee: money,
    netAmount: money,
    bankAccount: readFilledObject<Settlement['bankAccount']>(['bankCode', 'accountNumber', 'accountName']),
    status: oneOf(['pending', 'processing', 'completed', 'failed']),
    needsApproval: flag,
    byHand: flagOrNull,
    nextActionAt: timeOrNull,
    finalAt: timeOrNull,
  },
  ({ _id }) => ({ about: `settlement ${toText(_id)}`, subject: toText(_id), what: 'settlement' }),
);

export const quotes = createReader<ReadQuote>(
  {
    _id: text,
    accountId: text,
    productCode: text,
    customerNumber: text,
    totalBill: moneyOrNull,
    adminFee: moneyOrNull,
    totalAmount: moneyOrNull,
    markup: moneyOrNull,
    usedBy: textOrNull,
  },
  ({ _id }) => ({ about: `quote ${toText(_id)}`, subject: `quote ${toText(_id)}`, what: 'quote' }),
);

export const wallets = createReader<ReadWallet>({ balance: money, held: money, seq: money }, ({ _id }) => ({
  about: `wallet ${toText(_id)}`,
  subject: `wallet ${toText(_id)}`,
  what: 'wallet',
}));

export const accounts = createReader<ReadAccount>(
  { _id: text, role: oneOf(['buyer', 'seller']) },
  ({ _id }) => ({
    about: `account ${toText(_id)}`,
    subject: `account ${toText(_id)}`,
    what: 'account',
  }),
);

const journalHead = createReader<Omit<ReadJournal, 'lines'> & { lines: unknown }>(
  {
    kind: text,
    accountId: text,
    subjectId: text,
    walletId: textOrNull,
    walletSeq: moneyOrNull,
    balanceAfter: moneyOrNull,
    lines: anyValue,
  },
  getJournalName,
);

export const journals: Reader<ReadJournal> = {
  fields: journalHead.fields,
  read(raw, problems) {
    const journal = journalHead.read(raw, problems);
    if (!Array.isArray(journal.lines)) {
      problems.push(
        buildInvalidFieldFinding('lines', journal.lines, { named: getJournalName(raw), isMoney: false }),
      );
      return { ...journal, lines: [] };
    }
    const lines = journal.lines.map((line: unknown, index) =>
      readLine(line, problems, { raw, n: index + 1 }),
    );
    return { ...journal, lines };
  },
};

/** @param of The journal and the line number, for findings. */
function readLine(stored: unknown, problems: LedgerFinding[], of: { raw: Document; n: number }): JournalLine {
  const { account, amount } = (stored ?? {}) as Document;
  if (typeof account !== 'string') {
    problems.push(
      buildInvalidFieldFinding(`line ${of.n}`, stored, { named: getJournalName(of.raw), isMoney: false }),
    );
  }
  const rupiah = money.read(amount);
  if (typeof rupiah === 'number') {
    return { account: toText(account) as LedgerAccount, amount: rupiah };
  }
  const named = getJournalName(of.raw);
  problems.push(buildInvalidFieldFinding(`amount of ${toText(account)}`, amount, { named, isMoney: true }));
  return { account: toText(account) as LedgerAccount, amount: money.instead(amount) };
}

function getJournalName({ kind, subjectId }: Document): DocumentName {
  const what = `journal ${toText(kind)}`;
  return { about: `${what} of ${toText(subjectId)}`, subject: toText(subjectId), what };
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : describeValue(value);
}
