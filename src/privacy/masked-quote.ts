import type { Quote } from '../bills/quote.model.js';
import { getProof } from '../money/closes/canonical-text.js';
import type { Hide } from './scrub.js';

/** The update that masks a quote with its name, and leaves the proofs of both. It does nothing to one that is masked. */
export function buildMaskedQuote(quote: Quote, hide: Hide) {
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
      $unset: { proofSalt: 1 as const },
    },
  };
}
