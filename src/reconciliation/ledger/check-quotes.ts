import type { Document } from 'mongodb';
import { quotes } from '../../bills/quote.model.js';
import { runInTransaction, type Session } from '../../database/mongo.js';
import { asUntyped } from '../../database/typed-collection.js';
import { purchases } from '../../purchases/purchase.model.js';
import { getStartOfDay } from '../../shared/business-time.js';
import { getFirstIdAt } from '../../shared/ids.js';
import { buildBatchReader } from './keyed-stream.js';
import type { FindingLog, LedgerFinding, Part } from './ledger-report.js';
import { readWithRetries } from './read-pages.js';
import { describeValue, rawReadOptions } from './read-document.js';

const batchSize = 1_000;
const fields = { usedBy: 1 };

/**
 * Checks that each claimed quote names the purchase that pays it. Otherwise the bill could never be
 * paid. The check of the purchase covers the opposite direction.
 * @returns The number of quotes read.
 */
export async function checkQuotes(log: FindingLog, { fromDay, onPart }: Part): Promise<number> {
  const readBatch = buildBatchReader(quotes, '_id', { fields });
  let examined = 0;
  let isRead = false;
  // Ids increase with time, and a quote can be claimed only for a short time.
  let from: Document | null =
    fromDay === null ? null : { _id: getFirstIdAt(getStartOfDay(fromDay).getTime()) };
  do {
    const last: Document | null = from;
    const found: Document[] = await readWithRetries(() => readBatch(last, batchSize));
    for (const { _id } of await findOrphanedClaims(found, null)) {
      (await recheckQuote(String(_id))).forEach((finding) => log.add(finding));
    }
    // The last quote of a full batch is read again as the first of the next batch.
    examined += found.length - (isRead ? 1 : 0);
    isRead = true;
    onPart();
    from = found.length < batchSize ? null : (found.at(-1) ?? null);
  } while (from !== null);
  return examined;
}

/** Finds the quotes whose claim has no payment. */
async function findOrphanedClaims(found: Document[], session: Session | null): Promise<Document[]> {
  const paidBy = await readPayments(
    found.map((each): unknown => each['usedBy']),
    session,
  );
  return found.filter(
    ({ _id, usedBy }) =>
      usedBy !== null && usedBy !== undefined && (typeof usedBy !== 'string' || paidBy.get(usedBy) !== _id),
  );
}

/** Reads purchases; returns a map from purchase id to quote id. */
async function readPayments(ids: unknown[], session: Session | null): Promise<Map<string, unknown>> {
  const texts = ids.filter((id) => typeof id === 'string');
  if (texts.length === 0) {
    return new Map();
  }
  const options = { projection: { quoteId: 1 }, ...(session && { session }) };
  const read = () => purchases.find({ _id: { $in: texts } }, options).toArray();
  const found = await (session ? read() : readWithRetries(read));
  return new Map(found.map((each) => [each._id, each.quoteId]));
}

/**
 * Checks a quote again in one transaction, because claim and purchase are written in one
 * transaction.
 */
function recheckQuote(id: string): Promise<LedgerFinding[]> {
  return readWithRetries(() =>
    runInTransaction(async (session) => {
      const quote = await asUntyped(quotes).findOne(
        { _id: id },
        { ...rawReadOptions, projection: fields, session },
      );
      const [burnt] = quote ? await findOrphanedClaims([quote], session) : [];
      return burnt ? [await buildOrphanFinding(burnt, session)] : [];
    }),
  );
}

async function buildOrphanFinding(burnt: Document, session: Session): Promise<LedgerFinding> {
  const subject = `quote ${String(burnt['_id'])}`;
  const usedBy: unknown = burnt['usedBy'];
  if (typeof usedBy !== 'string') {
    return { check: 'documents', subject, message: `its usedBy is ${describeValue(usedBy)}` };
  }
  const paidBy = await readPayments([usedBy], session);
  const paid = paidBy.get(usedBy);
  const pays = typeof paid === 'string' ? paid : 'no quote';
  const why = paidBy.has(usedBy) ? `which pays ${pays}` : 'which does not exist';
  return { check: 'quotes', subject, message: `it was claimed by transaction ${usedBy}, ${why}` };
}
