import { defineClocked } from '../jobs/sweep-job.js';
import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { quotes, type Quote } from '../bills/quote.model.js';
import { removeOldLines } from '../deposits/bank/bank-lines.js';
import { removeOldImportRows } from '../providers/imports/undo-import.js';
import { purchases, type Purchase } from '../purchases/purchase.model.js';
import { finalStatuses } from '../purchases/states.js';
import { sureNowMs } from '../redis/fleet-clock.js';
import { monthsBefore } from '../shared/business-time.js';
import { collectChunks } from '../shared/collections.js';
import { logger } from '../shared/logger.js';
import { maskNumber } from '../shared/mask.js';
import { removeUndelivered } from '../webhooks/deliver/stored-deliveries.js';
import { endReportsOfErased, maskPurchase, buildMaskedQuote } from './mask-purchase.js';

/** Removes and masks what was kept long enough (docs/explanation/personal-data.md). */
export const applyRetentionJob = defineClocked('apply-retention', 600_000);

/** The most of each kind that one run does; the next run goes on. */
const runMax = 10_000;
const quotesAtOnce = 500;
const purchasesAtOnce = 8;

/**
 * Ends what was kept long enough: bill inquiries after 30 days, webhooks that were given up or held after 180 days, lines of bank statements and what price lists have changed after 400, customer
 * numbers of final purchases after CUSTOMER_NUMBER_MONTHS; and what an erasure that was killed has left of reports. Safe to run twice and by several at once: what is done is not found again, and each write is
 * conditional. It goes by the clock of the fleet: a host whose clock is years ahead would mask everything.
 * @returns how many of each, and how many numbers another database transaction kept from being masked.
 */
export async function applyRetention(): Promise<{
  bills: number;
  webhooks: number;
  bankLines: number;
  priceImportRows: number;
  numbers: number;
  left: number;
}> {
  // Of an erasure that was killed.
  await endReportsOfErased();
  const nowMs = await sureNowMs();
  const bills = await endQuotes(new Date(nowMs - limits.quoteKeptMs));
  const webhooks = await removeUndelivered(nowMs);
  const bankLines = await removeOldLines(nowMs);
  const priceImportRows = await removeOldImportRows(nowMs);
  const months = env.CUSTOMER_NUMBER_MONTHS;
  const numbers = months === 0 ? { done: 0, left: 0 } : await maskPurchases(monthsBefore(nowMs, months));
  const removed = { bills, webhooks, bankLines, priceImportRows };
  const ended = { ...removed, numbers: numbers.done, left: numbers.left };
  if (bills + webhooks + bankLines + priceImportRows + numbers.done > 0) {
    logger.info('retention was applied', ended);
  }
  return ended;
}

/** Inquiries go; a paid one is part of the books, and loses name and number. @returns how many. */
async function endQuotes(before: Date): Promise<number> {
  const source = quotes
    .find({ proofSalt: { $type: 'string' }, createdAt: { $lt: before } })
    .sort({ createdAt: 1 })
    .limit(runMax);
  let ended = 0;
  for await (const chunk of collectChunks(source, quotesAtOnce)) {
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
  for await (const chunk of collectChunks(source, purchasesAtOnce)) {
    const how = { hide: maskNumber, endsReports: false };
    for (const { left } of await Promise.all(chunk.map((each) => maskPurchase(each, how)))) {
      found[left === null ? 'done' : 'left'] += 1;
    }
  }
  return found;
}
