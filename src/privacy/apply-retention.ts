import { defineScheduledJob } from '../jobs/sweep-job.js';
import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { quotes, type Quote } from '../bills/quote.model.js';
import { removeOldLines } from '../deposits/bank/bank-lines.js';
import { removeOldImportRows } from '../providers/imports/undo-import.js';
import { purchases, type Purchase } from '../purchases/purchase.model.js';
import { finalStatuses } from '../purchases/states.js';
import { measureLatestNowMs } from '../redis/fleet-clock.js';
import { subtractMonths } from '../shared/business-time.js';
import { collectChunks } from '../shared/collections.js';
import { logger } from '../shared/logger.js';
import { maskNumber } from '../shared/mask.js';
import { removeUndelivered } from '../webhooks/deliver/stored-deliveries.js';
import { endReportsOfErased, maskPurchase, buildMaskedQuote } from './mask-purchase.js';

/** Removes and masks data whose retention has ended (docs/explanation/personal-data.md). */
export const applyRetentionJob = defineScheduledJob('apply-retention', 600_000);

/** Maximum number per kind and run. The next run continues. */
const runMax = 10_000;
const quoteBatchSize = 500;
const purchaseConcurrency = 8;

/**
 * Applies the retention periods. Safe to run twice or concurrently: each write is conditional, and
 * processed documents are not found again.
 *
 * - Bill inquiries: 30 days.
 * - Undelivered webhooks: 180 days.
 * - Lines of bank statements and rows of price imports: 400 days.
 * - Customer numbers of final purchases: CUSTOMER_NUMBER_MONTHS.
 *
 * It uses the clock that all processes share, because a host whose clock is years ahead would mask
 * everything.
 * @returns The number of each, and in `left` the number of purchases that could not be masked in
 * this run.
 */
export async function applyRetention(): Promise<{
  bills: number;
  webhooks: number;
  bankLines: number;
  priceImportRows: number;
  numbers: number;
  left: number;
}> {
  // Completes erasures whose process crashed.
  await endReportsOfErased();
  const nowMs = await measureLatestNowMs();
  const bills = await maskOrDeleteQuotes(new Date(nowMs - limits.quoteKeptMs));
  const webhooks = await removeUndelivered(nowMs);
  const bankLines = await removeOldLines(nowMs);
  const priceImportRows = await removeOldImportRows(nowMs);
  const months = env.CUSTOMER_NUMBER_MONTHS;
  const numbers = months === 0 ? { done: 0, left: 0 } : await maskPurchases(subtractMonths(nowMs, months));
  const removed = { bills, webhooks, bankLines, priceImportRows };
  const ended = { ...removed, numbers: numbers.done, left: numbers.left };
  if (bills + webhooks + bankLines + priceImportRows + numbers.done > 0) {
    logger.info('retention was applied', ended);
  }
  return ended;
}

/**
 * Deletes unpaid inquiries. Paid inquiries are part of the accounting records, so only their name
 * and number are masked.
 * @returns The number of inquiries.
 */
async function maskOrDeleteQuotes(before: Date): Promise<number> {
  const source = quotes
    .find({ proofSalt: { $type: 'string' }, createdAt: { $lt: before } })
    .sort({ createdAt: 1 })
    .limit(runMax);
  let ended = 0;
  for await (const chunk of collectChunks(source, quoteBatchSize)) {
    const result = await quotes.bulkWrite(chunk.map(buildQuoteEnd), { ordered: false });
    ended += result.deletedCount + result.modifiedCount;
  }
  return ended;
}

function buildQuoteEnd(quote: Quote) {
  const { _id, accountId, usedBy } = quote;
  return usedBy === null
    ? { deleteOne: { filter: { _id, accountId, usedBy: null } } }
    : { updateOne: buildMaskedQuote(quote, maskNumber) };
}

async function maskPurchases(before: Date): Promise<{ done: number; left: number }> {
  const source = purchases
    .find<Purchase>({
      proofSalt: { $type: 'string' },
      createdAt: { $lt: before },
      status: { $in: [...finalStatuses] },
      finalAt: { $lt: before },
      reviewSince: null,
    })
    .sort({ createdAt: 1 })
    .limit(runMax);
  const found = { done: 0, left: 0 };
  for await (const chunk of collectChunks(source, purchaseConcurrency)) {
    const how = { hide: maskNumber, endsReports: false };
    for (const { left } of await Promise.all(chunk.map((each) => maskPurchase(each, how)))) {
      found[left === null ? 'done' : 'left'] += 1;
    }
  }
  return found;
}
