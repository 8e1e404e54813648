import { type Quote, quotes } from '../bills/quote.model.js';
import { getProof } from '../money/closes/canonical-text.js';
import { type MaskNumber, removedText, buildScrubber, type Scrubber } from './scrub.js';
import { runInTransaction, type Session } from '../database/mongo.js';
import { CaseModel, type ReconciliationCase } from '../purchases/case.model.js';
import { getOrderKey, orders, type Order } from '../purchases/order.model.js';
import { purchases, type Purchase } from '../purchases/purchase.model.js';
import { finalStatuses, isFinal } from '../purchases/states.js';
import { deliveries } from '../webhooks/deliver/delivery.model.js';
import { endReports } from '../reports/end-reports.js';

/**
 * Builds the update that masks the number and name of a quote and keeps proofs of both. It removes
 * the details of the bill. Its filter does not match a quote that is already masked.
 */
export function buildMaskedQuote(quote: Quote, hide: MaskNumber) {
  const { _id, accountId, customerNumber, customerName, proofSalt = '' } = quote;
  return {
    filter: { _id, accountId, proofSalt },
    update: {
      $set: {
        customerNumber: hide(customerNumber),
        customerName: customerName === null ? null : '***',
        proofs: {
          customerNumber: getProof(proofSalt, 'customerNumber', customerNumber),
          customerName: getProof(proofSalt, 'customerName', customerName),
        },
      },
      $unset: { proofSalt: 1 as const, details: 1 as const },
    },
  };
}

/** Why a purchase or inquiry still has its number. */
export type KeptReason =
  | 'not final'
  | 'under review'
  | 'a webhook is under way'
  | 'changed meanwhile'
  | 'accepted meanwhile'
  | 'held by a database transaction';

export interface MaskResult {
  /** Null if the purchase was masked. */
  left: KeptReason | null;
  /**
   * Number of inquiries masked or deleted with the purchase: the paid one, and unpaid ones from
   * before the purchase ended.
   */
  bills: number;
}

export interface MaskOptions {
  hide: MaskNumber;
  /**
   * True for an erasure. It marks the purchase until reports that may contain the number have
   * ended.
   */
  endsReports: boolean;
}

/**
 * Masks the customer number in a purchase and its related documents. Webhooks and cases are masked
 * first. Orders, quote and purchase follow in one database transaction.
 *
 * After a crash in between, the purchase still has its number, so the next run finds it and
 * completes the rest. Proofs keep the hashes of closed days verifiable.
 * @throws DependencyError if another database transaction locks the purchase, or MongoDB is
 * unavailable.
 */
export async function maskPurchase(purchase: Purchase, how: MaskOptions): Promise<MaskResult> {
  const { status, reviewSince, proofSalt, quoteId, accountId } = purchase;
  const leave = (left: KeptReason): MaskResult => ({ left, bills: 0 });
  if (!isFinal(status)) {
    return leave('not final');
  }
  if (reviewSince !== null) {
    return leave('under review');
  }
  if (proofSalt === undefined) {
    // Another run has masked the purchase.
    return leave('changed meanwhile');
  }
  const quote = quoteId === null ? null : await quotes.findOne({ _id: quoteId, accountId });
  const scrub = buildScrubber(purchase, { hide: how.hide, name: quote?.customerName ?? null });
  if (!(await scrubDeliveries(purchase, scrub))) {
    return leave('a webhook is under way');
  }
  await scrubCases(purchase);
  return maskPurchaseRecords(purchase, proofSalt, { ...how, scrub, quote });
}

/**
 * Masks the webhooks of a purchase.
 * @returns False if a webhook is due, because every attempt must send the same bytes.
 */
async function scrubDeliveries({ _id, accountId, sellerId }: Purchase, scrub: Scrubber): Promise<boolean> {
  const owners = sellerId === null ? [accountId] : [accountId, sellerId];
  const rows = await deliveries.find({ orderKey: _id, accountId: { $in: owners } }).toArray();
  if (rows.some(({ state }) => state === 'due')) {
    return false;
  }
  const updates = rows.flatMap((row) => {
    const body = scrub.body(row.body);
    const attempts = row.attempts.map((each) => ({
      ...each,
      answer: scrub.words(each.answer),
    }));
    if (body === row.body && attempts.every(({ answer }, at) => answer === row.attempts[at]?.answer)) {
      return [];
    }
    const { state, attemptCount } = row;
    const filter = { _id: row._id, accountId: row.accountId, state, attemptCount };
    return [{ updateOne: { filter, update: { $set: { body, attempts } } } }];
  });
  if (updates.length === 0) {
    return true;
  }
  // The update does not match a delivery that is being sent again.
  return (await deliveries.bulkWrite(updates, { ordered: false })).matchedCount === updates.length;
}

/** The service itself writes the texts of these kinds of case, so they contain no customer data. */
const ownCaseKinds: ReconciliationCase['kind'][] = [
  'contradicting-answer',
  'repeated-serial-number',
  'cost-above-maximum',
];

async function scrubCases({ _id }: Purchase): Promise<void> {
  const found = await CaseModel.find({ transactionId: _id }).lean<ReconciliationCase[]>();
  const updates = found
    .filter(({ kind }) => !ownCaseKinds.includes(kind))
    .map((each) => ({ ...each, words: `${removedText} Case ${each._id}.` }))
    .filter(({ detail, words }) => detail !== words)
    .map(({ _id: caseId, detail, words }) => ({
      // The case id keeps the details of one purchase distinct.
      updateOne: { filter: { _id: caseId, detail }, update: { $set: { detail: words } } },
    }));
  if (updates.length > 0) {
    await CaseModel.bulkWrite(updates);
  }
}

/** Masks purchase, orders and quote together, because `topup ledger verify` compares them. */
async function maskPurchaseRecords(
  purchase: Purchase,
  salt: string,
  { hide, endsReports, scrub, quote }: MaskOptions & { scrub: Scrubber; quote: Quote | null },
): Promise<MaskResult> {
  const { _id, accountId, version, customerNumber, serialNumber, message, reviewReason } = purchase;
  const found = await orders.find({ accountId, transactionId: _id }).sort({ n: 1 }).toArray();
  const changeOf = (order: Order) => ({
    updateOne: {
      filter: getOrderKey(order),
      update: {
        $set: {
          message: scrub.words(order.message),
          serialNumber: scrub.serialNumber(order.serialNumber),
          proofs: { serialNumber: getProof(salt, 'serialNumber', order.serialNumber) },
        },
      },
    },
  });
  return runInTransaction(async (session) => {
    const result = await purchases.updateOne(
      { _id, accountId, version, status: { $in: [...finalStatuses] }, reviewSince: null, proofSalt: salt },
      {
        $set: {
          customerNumber: hide(customerNumber),
          serialNumber: scrub.serialNumber(serialNumber),
          message: scrub.words(message),
          ...(reviewReason !== undefined && { reviewReason: removedText }),
          ...(endsReports && { reportsToEnd: true as const }),
          proofs: {
            customerNumber: getProof(salt, 'customerNumber', customerNumber),
            serialNumber: getProof(salt, 'serialNumber', serialNumber),
          },
        },
        $unset: { proofSalt: 1 },
      },
      { session },
    );
    if (result.matchedCount === 0) {
      return { left: 'changed meanwhile' as const, bills: 0 };
    }
    if (found.length > 0) {
      await orders.bulkWrite(found.map(changeOf), { session });
    }
    const over = await removeQuotesBefore(purchase, session);
    if (quote?.proofSalt === undefined) {
      return { left: null, bills: over };
    }
    const { filter, update } = buildMaskedQuote(quote, hide);
    const { modifiedCount } = await quotes.updateOne(filter, update, { session });
    return { left: null, bills: over + modifiedCount };
  });
}

/**
 * Deletes unpaid inquiries made before the purchase ended. Once the purchase's number is masked, it
 * can no longer be recognised that these inquiries are outdated (create-payment.ts).
 * @returns The number of deleted inquiries.
 */
async function removeQuotesBefore(
  { accountId, kind, productCode, customerNumber, finalAt }: Purchase,
  session: Session,
): Promise<number> {
  if (kind !== 'postpaid' || finalAt === null) {
    return 0;
  }
  const over = { accountId, productCode, customerNumber, usedBy: null, createdAt: { $lte: finalAt } };
  return (await quotes.deleteMany(over, { session })).deletedCount;
}

const batchSize = 500;

/**
 * Ends the reports of buyers and sellers of erased purchases, including sellers that only got an
 * order. The mark is written with the erasure and removed after the reports have ended, so after a
 * crash a later call completes the work.
 *
 * Reports requested after the erasure cannot contain the number.
 * @returns The number of ended reports.
 */
export async function endReportsOfErased(): Promise<number> {
  let ended = 0;
  for (;;) {
    const marked = await purchases
      .find({ reportsToEnd: true }, { projection: { accountId: 1, sellerId: 1 } })
      .limit(batchSize)
      .toArray();
    if (marked.length === 0) {
      return ended;
    }
    const buyers = [...new Set(marked.map(({ accountId }) => accountId))];
    const asked = await orders
      .find(
        {
          accountId: { $in: buyers },
          transactionId: { $in: marked.map(({ _id }) => _id) },
        },
        { projection: { _id: 0, sellerId: 1 } },
      )
      .toArray();
    const sellers = [...marked, ...asked].flatMap(({ sellerId }) => (sellerId === null ? [] : [sellerId]));
    ended += await endReports([...new Set([...buyers, ...sellers])]);
    await purchases.bulkWrite(
      marked.map(({ _id, accountId }) => ({
        updateOne: { filter: { _id, accountId }, update: { $unset: { reportsToEnd: 1 as const } } },
      })),
      { ordered: false },
    );
  }
}
