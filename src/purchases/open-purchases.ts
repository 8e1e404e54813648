import { purchases, type Purchase } from './purchase.model.js';

/** So many are read of what is open; more changes nothing about what to do. */
const readMax = 5_000;

export interface OpenPurchases {
  open: Pick<Purchase, '_id' | 'createdAt' | 'price'>[];
  /** Rupiah that were debited for them and belong to nobody yet. */
  suspense: number;
  /** There are more than were read. */
  isCut: boolean;
}

/** Purchases that are not final, by the index of what is due; what waits for a person comes first there. */
export async function readOpenPurchases(): Promise<OpenPurchases> {
  const open = await purchases
    .find({ status: { $in: ['PENDING', 'PROCESSING'] } }, { projection: { createdAt: 1, price: 1 } })
    .hint('status_next_action')
    .limit(readMax)
    .batchSize(readMax)
    .toArray();
  return {
    open,
    suspense: open.reduce((sum, { price }) => sum + price, 0),
    isCut: open.length === readMax,
  };
}
