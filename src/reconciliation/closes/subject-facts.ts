import type { Collection, Filter } from 'mongodb';
import { quotes } from '../../bills/quote.model.js';
import { deposits } from '../../deposits/deposit.model.js';
import {
  toCanonicalText,
  exactReadOptions,
  toFieldsText,
  toProvenFieldsText,
  type Maskable,
} from '../../money/closes/canonical-text.js';
import { addLines, getLines, addSums, hashText, toJournalText } from '../../money/closes/close-hash.js';
import type { LedgerSums } from '../../money/closes/wallet-close.model.js';
import { sellerCredits, type SellerCredit } from '../../money/credits/seller-credit.model.js';
import { journals, type Journal, type JournalKind } from '../../money/journals/journal.model.js';
import { orders, type Order } from '../../purchases/order.model.js';
import { purchases, type Purchase } from '../../purchases/purchase.model.js';
import { settlements } from '../../settlements/settlement.model.js';
import { groupBy, collectChunks } from '../../shared/collections.js';

/** The content of a journal's subject, as a close hashes it. */
export interface SubjectFacts {
  text: string;
  /** Sums of the journals without a wallet that are closed together with this journal. */
  sums: LedgerSums;
}

const noFacts: SubjectFacts = { text: '', sums: {} };
const postingBatchSize = 20;
const creditsPerChunk = 500;

/**
 * For each kind of journal, the fields of its subject that are final once the journal is written.
 */
const acceptedFields = [
  ...(['accountId', 'refId', 'surface', 'kind', 'productCode', 'customerNumber'] as const),
  ...(['price', 'quoteId', 'createdAt'] as const),
] satisfies (keyof Purchase)[];
const endedFields = ['status', 'sellerId', 'finalAt'] satisfies (keyof Purchase)[];
const soldFields = ['serialNumber', 'sellerId', 'commissionAmount'] satisfies (keyof Purchase)[];
const boughtFields = [
  '_id',
  'sellerId',
  'offerPrice',
  'commissionRate',
  'serialNumber',
] satisfies (keyof Order)[];
const creditedFields = ['_id', 'sellerId', 'transactionId', 'amount'] satisfies (keyof SellerCredit)[];
const quotedFields = [
  ...(['accountId', 'productCode', 'customerNumber', 'sellerId', 'customerName', 'billPeriod'] as const),
  ...(['totalBill', 'adminFee', 'totalAmount', 'usedBy'] as const),
] as const;
/** Customer data, which may be masked later (decision 044). */
const customerFields = ['customerNumber', 'serialNumber', 'customerName'] as const;
const proofFields = ['proofSalt', 'proofs'] as const;
const depositedFields = [
  ...(['accountId', 'refId', 'amount', 'status', 'balanceBefore', 'balanceAfter', 'completedAt'] as const),
] as const;
const withdrawnFields = ['accountId', 'refId', 'amount', 'fee', 'netAmount'] as const;
const bankFields = ['bankCode', 'accountNumber', 'accountName'] as const;
const paidOutFields = ['status', 'finalAt'] as const;

/**
 * Reads the subjects of a wallet's journals: the fields that cannot change after the journal
 * (decision 014). The journal of a sale has no wallet, so it is closed with the posting that
 * credits the seller.
 * @param of Journals with a wallet. The caller limits their number.
 * @returns A function that returns the facts for a journal.
 */
export async function readSubjectFacts(of: readonly Journal[]): Promise<(journal: Journal) => SubjectFacts> {
  const idsOf = (...kinds: JournalKind[]) => [
    ...new Set(of.filter(({ kind }) => kinds.includes(kind)).map(({ subjectId }) => subjectId)),
  ];
  const [purchaseOf, depositOf, settlementOf, postingOf] = await Promise.all([
    readPurchases(idsOf('purchase', 'refund', 'reversal')),
    readById(deposits, idsOf('deposit'), depositedFields),
    readById(settlements, idsOf('settlement-request', 'settlement-completed', 'settlement-failed'), [
      ...withdrawnFields,
      ...paidOutFields,
      'bankAccount',
    ]),
    readPostings(idsOf('seller-posting')),
  ]);
  return (journal) => {
    const id = journal.subjectId;
    switch (journal.kind) {
      case 'purchase':
        return { text: purchaseOf(id).accepted, sums: {} };
      case 'refund':
      case 'reversal':
        return { text: purchaseOf(id).ended, sums: {} };
      case 'deposit':
        return { text: toFieldsText(depositOf.get(id), depositedFields), sums: {} };
      case 'settlement-request': {
        const settlement = settlementOf.get(id);
        const bank = toFieldsText(settlement?.bankAccount, bankFields);
        return { text: `${toFieldsText(settlement, withdrawnFields)} ${bank}`, sums: {} };
      }
      case 'settlement-completed':
      case 'settlement-failed':
        return { text: toFieldsText(settlementOf.get(id), paidOutFields), sums: {} };
      case 'seller-posting':
        return postingOf(id);
      default:
        return noFacts;
    }
  };
}

async function readPurchases(ids: string[]) {
  const found = await readById(purchases, ids, [...acceptedFields, ...endedFields, ...proofFields, 'markup']);
  const quoteIds = [...found.values()].flatMap(({ quoteId }) => (quoteId === null ? [] : [quoteId]));
  const quoteOf = await readById(quotes, quoteIds, [...quotedFields, ...proofFields, 'markup']);
  return (id: string) => {
    const purchase = found.get(id);
    const quote = purchase?.quoteId ? quoteOf.get(purchase.quoteId) : undefined;
    const paid = purchase?.quoteId ? ` ${toPersonalText(quote, quotedFields)}${toMarkupText(quote)}` : '';
    return {
      accepted: `${toPersonalText(purchase, acceptedFields)}${toMarkupText(purchase)}${paid}`,
      ended: toFieldsText(purchase, endedFields),
    };
  };
}

/** Empty without a markup, so that days closed before markups existed keep their hashes. */
function toMarkupText(document: { markup?: number } | undefined): string {
  return document?.markup === undefined ? '' : ` markup ${toCanonicalText(document.markup)}`;
}

/**
 * Reads postings, each through its credits. The credit for a sale includes the sale. A posting can
 * have a thousand credits, so credits are read in chunks and only their hashes are kept.
 */
async function readPostings(ids: string[]): Promise<(id: string) => SubjectFacts> {
  const creditsOf = new Map<string, { hashes: string[]; sums: LedgerSums }>();
  for (let start = 0; start < ids.length; start += postingBatchSize) {
    const some = ids.slice(start, start + postingBatchSize);
    // The posting id of a credit is set once, together with the journal, so each credit is read
    // once.
    const source = sellerCredits.find(
      { postingId: { $in: some, $type: 'string' } },
      { ...exactReadOptions, projection: buildProjection([...creditedFields, 'postingId']) },
    );
    for await (const credits of collectChunks(source, creditsPerChunk)) {
      const saleOf = await readSales(credits.filter(isSale).map(({ transactionId }) => transactionId));
      for (const credit of credits) {
        const sale = isSale(credit) ? saleOf(credit.transactionId) : noFacts;
        const posting = creditsOf.get(credit.postingId ?? '') ?? { hashes: [], sums: {} };
        posting.hashes.push(hashText(`${toFieldsText(credit, creditedFields)} ${sale.text}`));
        posting.sums = addSums(posting.sums, sale.sums);
        creditsOf.set(credit.postingId ?? '', posting);
      }
    }
  }
  return (id) => {
    const { hashes, sums } = creditsOf.get(id) ?? { hashes: [], sums: {} };
    return { text: hashes.sort().join(' '), sums };
  };
}

/** True for the credit of a sale. Other credits are reversals: `<purchase>-reversal`. */
function isSale({ _id, transactionId }: SellerCredit): boolean {
  return _id === transactionId;
}

async function readSales(ids: string[]): Promise<(purchaseId: string) => SubjectFacts> {
  if (ids.length === 0) {
    return () => noFacts;
  }
  // Purchases are read first, so that orders and journals already show any reversal or masking that
  // a purchase shows.
  const purchaseOf = await readById(purchases, ids, [...soldFields, 'status', ...proofFields]);
  const [ordersOk, about] = await Promise.all([
    orders
      .find(
        { transactionId: { $in: ids } },
        {
          ...exactReadOptions,
          projection: buildProjection([...boughtFields, 'transactionId', 'status', 'proofs']),
        },
      )
      .toArray(),
    journals
      .find({ subjectId: { $in: ids }, kind: { $in: ['success', 'reversal'] } }, exactReadOptions)
      .toArray(),
  ]);
  const ordersOf = groupBy(ordersOk, ({ transactionId }) => transactionId);
  const journalsOf = groupBy(about, ({ subjectId }) => subjectId);
  return (id) => {
    const purchase = purchaseOf.get(id);
    const own = journalsOf.get(id) ?? [];
    const success = own.filter(({ kind }) => kind === 'success');
    // A reversal is the only change after a success, and the reversal has its own journal.
    const isReversed = purchase?.status === 'REFUNDED' && own.some(({ kind }) => kind === 'reversal');
    const status = isReversed ? 'SUCCESS' : (purchase?.status ?? null);
    const sums: LedgerSums = {};
    success.forEach((each) => addLines(sums, getLines(each)));
    return {
      text: [
        toCanonicalText([status]),
        toPersonalText(purchase, soldFields),
        ...(ordersOf.get(id) ?? [])
          .filter((order) => order.status === 'OK')
          .map((order) => toPersonalText(withPurchaseSalt(order, purchase), boughtFields))
          .sort(),
        ...success.map(toJournalText),
      ].join(' '),
      sums,
    };
  };
}

/** An order shares the serial number and the salt of its purchase. */
function withPurchaseSalt(order: Order, purchase: Purchase | undefined): Order & Maskable {
  return purchase?.proofSalt === undefined ? order : { ...order, proofSalt: purchase.proofSalt };
}

function toPersonalText<T extends Maskable>(
  document: T | undefined,
  fields: readonly (keyof T & string)[],
): string {
  const maskable: readonly string[] = customerFields;
  return toProvenFieldsText(
    document,
    fields,
    fields.filter((field) => maskable.includes(field)),
  );
}

async function readById<T extends { _id: string }>(
  collection: Collection<T>,
  ids: string[],
  fields: readonly (keyof T & string)[],
): Promise<Map<string, T>> {
  if (ids.length === 0) {
    return new Map();
  }
  const found = await collection
    .find({ _id: { $in: ids } } as unknown as Filter<T>, {
      ...exactReadOptions,
      projection: buildProjection(fields),
      // A full batch would leave a cursor open, which a failover loses. One batch holds all
      // documents.
      batchSize: ids.length + 1,
    })
    .toArray();
  return new Map((found as unknown as T[]).map((document) => [document._id, document]));
}

function buildProjection(fields: readonly string[]): Record<string, 1> {
  return Object.fromEntries(fields.map((field) => [field, 1 as const]));
}
