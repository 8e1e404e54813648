/** Rows that a purchase leaves behind: orders, journals, seller credits, totals and a delivery. */
import { auditEntries } from '../../../src/audit/audit.model.js';
import { buildAuditEntryInsert } from '../../../src/audit/record-audit.js';
import { buildSellerCreditInsert } from '../../../src/money/credits/seller-credits.js';
import { sellerCredits } from '../../../src/money/credits/seller-credit.model.js';
import { buildMovementLines } from '../../../src/money/journals/new-journal.js';
import { orders as orderRows, toStored as orderToStored } from '../../../src/purchases/order.model.js';
import { purchases, toStored } from '../../../src/purchases/purchase.model.js';
import type { Books } from './books.js';
import type { BulkWriter } from './bulk-writer.js';
import type { Chance } from './chance.js';
import type { Sale } from './make-sale.js';

export interface SeedContext {
  writer: BulkWriter;
  chance: Chance;
  books: Books;
}

export function writeSale({ writer, books, chance }: SeedContext, sale: Sale, credits: Credits): void {
  const { purchase, orders, atMs, endMs } = sale;
  const { _id: subjectId, accountId, price, markup = 0, sellerId } = purchase;
  writer.add(purchases.collectionName, toStored(purchase));
  orders.forEach((order) => {
    writer.add(orderRows.collectionName, orderToStored(order));
  });
  const wallet = `wallet:${accountId}` as const;
  const suspense = 'platform:suspense' as const;
  books.post({
    accountId,
    kind: 'purchase',
    subjectId,
    atMs,
    balance: -price,
    lines: [
      { account: wallet, amount: -price },
      { account: suspense, amount: price - markup },
      ...(markup > 0 ? [{ account: suspense, amount: markup }] : []),
    ],
  });
  if (purchase.status === 'FAILED') {
    const lines = buildMovementLines(price, { from: suspense, to: wallet });
    books.postLater({ accountId, kind: 'refund', subjectId, atMs: endMs, balance: price, lines });
  }
  if (purchase.commissionAmount === null || sellerId === null) {
    return;
  }
  const commission = purchase.commissionAmount;
  const amount = price - commission;
  books.post({
    accountId,
    kind: 'success',
    subjectId,
    atMs: endMs,
    lines: [
      { account: suspense, amount: -price },
      { account: `payable:${sellerId}`, amount },
      { account: 'platform:revenue', amount: commission },
    ],
  });
  credits.add({ id: subjectId, accountId, transactionId: subjectId, sellerId, amount }, endMs);
  if (purchase.status === 'REFUNDED') {
    const reversedMs = purchase.updatedAt.getTime();
    books.postLater({
      accountId,
      kind: 'reversal',
      subjectId,
      atMs: reversedMs,
      balance: price,
      lines: [
        { account: wallet, amount: price },
        { account: `payable:${sellerId}`, amount: -amount },
        { account: 'platform:revenue', amount: -commission },
      ],
    });
    const id = `${subjectId}-reversal`;
    credits.add({ id, accountId, transactionId: subjectId, sellerId, amount: -amount }, reversedMs);
    writeReversalAudit({ writer, chance }, subjectId, reversedMs);
  }
}

function writeReversalAudit({ writer, chance }: Omit<SeedContext, 'books'>, id: string, atMs: number): void {
  const { document } = buildAuditEntryInsert({
    actor: 'operator:bench',
    action: 'transaction.reverse',
    reason: 'complaint',
    subject: { kind: 'transaction', id },
    before: { status: 'SUCCESS' },
    after: { status: 'REFUNDED' },
  });
  writer.add(auditEntries.collectionName, { ...document, _id: chance.idAt(atMs), at: new Date(atMs) });
}

/** Seller credits, posted to wallets in batches of a thousand and at the end of each day. */
export interface Credits {
  add(credit: Parameters<typeof buildSellerCreditInsert>[0], atMs: number): void;
  postAll(atMs: number): void;
}

const postBatchSize = 1_000;

export function sellerCreditsOf({ writer, books, chance }: SeedContext): Credits {
  const waiting = new Map<string, { amount: number; row: object }[]>();
  const post = (sellerId: string, atMs: number) => {
    const some = waiting.get(sellerId) ?? [];
    if (some.length === 0) {
      return;
    }
    waiting.set(sellerId, []);
    const postingId = chance.idAt(atMs);
    const sum = some.reduce((all, { amount }) => all + amount, 0);
    some.forEach(({ row }) => {
      writer.add(sellerCredits.collectionName, { ...row, status: 'posted', postingId });
    });
    books.post({
      accountId: sellerId,
      kind: 'seller-posting',
      subjectId: postingId,
      atMs,
      balance: sum,
      lines: buildMovementLines(sum, { from: `payable:${sellerId}`, to: `wallet:${sellerId}` }),
    });
  };
  return {
    add(credit, atMs) {
      const { document } = buildSellerCreditInsert(credit) as { document: object };
      const some = waiting.get(credit.sellerId) ?? [];
      waiting.set(credit.sellerId, some);
      some.push({ amount: credit.amount, row: { ...document, createdAt: new Date(atMs) } });
      if (some.length === postBatchSize) {
        post(credit.sellerId, atMs);
      }
    },
    postAll(atMs) {
      [...waiting.keys()].forEach((sellerId) => {
        post(sellerId, atMs);
      });
    },
  };
}
