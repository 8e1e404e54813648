import type { Collection, Filter, Sort } from 'mongodb';
import { quotes, type Quote } from '../../bills/quote.model.js';
import { settlements, type Settlement } from '../../settlements/settlement.model.js';
import type { Session } from '../../database/mongo.js';
import { orders, type Order } from '../../purchases/order.model.js';
import { sellerCredits as credits, type SellerCredit } from '../../money/credits/seller-credit.model.js';
import { purchases, type Purchase } from '../../purchases/purchase.model.js';
import { deposits, type Deposit } from '../../deposits/deposit.model.js';
import { journals, type Journal } from '../../money/journals/journal.model.js';
import { keyedStream, smallestKey, type KeyedStream } from './keyed-stream.js';
import { moneyReader, rawRead, type MoneyReader } from './read-money.js';

/** All that is stored about one cause of money movements: a purchase, a deposit, a posting, a settlement. */
export interface Subject {
  id: string;
  journals: Journal[];
  purchase: Purchase | null;
  orders: Order[];
  /** Seller credits of the transaction. */
  credits: SellerCredit[];
  /** The bill that the purchase pays. */
  quote: Quote | null;
  deposit: Deposit | null;
  settlement: Settlement | null;
  /** Seller credits that the posting of this id posted. */
  posted: SellerCredit[];
  /** Fields that are not stored as int64. */
  notInt64: string[];
}

interface RawSubject {
  journals: Journal[];
  purchases: Purchase[];
  orders: Order[];
  credits: SellerCredit[];
  deposits: Deposit[];
  settlements: Settlement[];
  posted: SellerCredit[];
}

const isPosted: Filter<SellerCredit> = { postingId: { $type: 'string' } };

/**
 * Every subject by rising id. All collections are read side by side in the order of an index, so that memory
 * stays constant however long the history. Writers go on meanwhile: what looks wrong must be read again by
 * `readSubject` before it counts.
 */
export async function* streamSubjects(): AsyncGenerator<Subject, void> {
  const streams = {
    journals: open(journals, {}, { subjectId: 1, kind: 1 }, (each) => each.subjectId),
    purchases: open(purchases, {}, { _id: 1 }, (each) => each._id),
    orders: open(orders, {}, { transactionId: 1, n: 1 }, (each) => each.transactionId),
    credits: open(credits, {}, { _id: 1 }, purchaseOf),
    deposits: open(deposits, {}, { _id: 1 }, (each) => each._id),
    settlements: open(settlements, {}, { _id: 1 }, (each) => each._id),
    posted: open(credits, isPosted, { postingId: 1 }, (each) => each.postingId ?? ''),
  };
  const all = Object.values(streams) as unknown as KeyedStream<never>[];
  try {
    for (let id = await smallestKey(all); id !== null; id = await smallestKey(all)) {
      yield decode(null, id, {
        journals: await streams.journals.take(id),
        purchases: await streams.purchases.take(id),
        orders: await streams.orders.take(id),
        credits: await streams.credits.take(id),
        deposits: await streams.deposits.take(id),
        settlements: await streams.settlements.take(id),
        posted: await streams.posted.take(id),
      });
    }
  } finally {
    await Promise.all(all.map((stream) => stream.close()));
  }
}

/** One subject as it is at one moment: reads within the caller's database transaction. */
export async function readSubject(session: Session, id: string): Promise<Subject> {
  const options = { ...rawRead, session };
  return decode(session, id, {
    journals: await journals.find({ subjectId: id }, options).toArray(),
    purchases: await purchases.find({ _id: id }, options).toArray(),
    orders: await orders.find({ transactionId: id }, options).sort({ n: 1 }).toArray(),
    credits: await credits.find({ _id: { $in: [id, `${id}-reversal`] } }, options).toArray(),
    deposits: await deposits.find({ _id: id }, options).toArray(),
    settlements: await settlements.find({ _id: id }, options).toArray(),
    posted: await credits.find({ postingId: id }, options).toArray(),
  });
}

function open<T extends { _id: string }>(
  collection: Collection<T>,
  filter: Filter<T>,
  sort: Sort,
  keyOf: (document: T) => string,
): KeyedStream<T> {
  return keyedStream(collection.find<T>(filter, rawRead).sort(sort), keyOf);
}

/** `<purchase>` or `<purchase>-reversal`, which sorts right behind it. */
function purchaseOf(credit: SellerCredit): string {
  return credit._id.replace(/-reversal$/, '');
}

async function decode(session: Session | null, id: string, raw: RawSubject): Promise<Subject> {
  const money = moneyReader();
  const [purchase] = raw.purchases;
  const [deposit] = raw.deposits;
  const [settlement] = raw.settlements;
  // Only bills have one, so that one read each is cheap enough.
  const quote = purchase?.quoteId
    ? await quotes.findOne({ _id: purchase.quoteId }, session ? { ...rawRead, session } : rawRead)
    : null;
  return {
    id,
    journals: raw.journals.map((each) => decodeJournal(each, money)),
    purchase: purchase ? decodePurchase(purchase, money) : null,
    orders: raw.orders.map((each) => ({
      ...each,
      offerPrice: money.rupiah(each.offerPrice, `attempt ${each.n} offerPrice`),
    })),
    credits: raw.credits.map((each) => decodeCredit(each, money)),
    quote: quote && {
      ...quote,
      totalAmount: money.rupiahOrNull(quote.totalAmount, 'quote totalAmount'),
    },
    deposit: deposit ? decodeDeposit(deposit, money) : null,
    settlement: settlement ? decodeSettlement(settlement, money) : null,
    posted: raw.posted.map((each) => decodeCredit(each, money)),
    notInt64: money.notInt64,
  };
}

export function decodeJournal(journal: Journal, money: MoneyReader): Journal {
  const where = `journal ${journal.kind}`;
  return {
    ...journal,
    walletSeq: money.rupiahOrNull(journal.walletSeq, `${where} walletSeq`),
    balanceAfter: money.rupiahOrNull(journal.balanceAfter, `${where} balanceAfter`),
    lines: journal.lines.map((line) => ({
      account: line.account,
      amount: money.rupiah(line.amount, `${where} amount of ${line.account}`),
    })),
  };
}

function decodePurchase(purchase: Purchase, money: MoneyReader): Purchase {
  return {
    ...purchase,
    price: money.rupiah(purchase.price, 'transaction price'),
    commissionAmount: money.rupiahOrNull(purchase.commissionAmount, 'transaction commissionAmount'),
  };
}

function decodeDeposit(deposit: Deposit, money: MoneyReader): Deposit {
  return {
    ...deposit,
    amount: money.rupiah(deposit.amount, 'deposit amount'),
    balanceBefore: money.rupiah(deposit.balanceBefore, 'deposit balanceBefore'),
    balanceAfter: money.rupiah(deposit.balanceAfter, 'deposit balanceAfter'),
  };
}

function decodeSettlement(settlement: Settlement, money: MoneyReader): Settlement {
  return {
    ...settlement,
    amount: money.rupiah(settlement.amount, 'settlement amount'),
    fee: money.rupiah(settlement.fee, 'settlement fee'),
    netAmount: money.rupiah(settlement.netAmount, 'settlement netAmount'),
  };
}

function decodeCredit(credit: SellerCredit, money: MoneyReader): SellerCredit {
  return { ...credit, amount: money.rupiah(credit.amount, `seller credit ${credit._id} amount`) };
}
