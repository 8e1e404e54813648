import type { Quote } from '../../src/bills/quote.model.js';
import { createProofSalt } from '../../src/money/closes/canonical-text.js';
import { newId } from '../../src/shared/ids.js';

/** Builds an open quote for a bill. Does not store it. */
export function someQuote(over: Partial<Quote> = {}): Quote {
  return {
    _id: newId(),
    accountId: newId(),
    productCode: 'PLNPOST',
    customerNumber: '530000001240',
    sellerId: newId(),
    status: 'open',
    customerName: 'SITI AMINAH',
    billPeriod: '2024-03',
    totalBill: 75_000,
    adminFee: 2_500,
    totalAmount: 77_500,
    refusal: null,
    usedBy: null,
    createdAt: new Date(),
    expiresAt: new Date(Date.now() + 600_000),
    proofSalt: createProofSalt(),
    ...over,
  };
}
