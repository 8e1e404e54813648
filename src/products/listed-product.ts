import type { Product } from './product.model.js';

/** What lists read of a product. */
export const listedFields = {
  name: 1,
  category: 1,
  subcategory: 1,
  operator: 1,
  status: 1,
  description: 1,
  cutOff: 1,
  maxWaitS: 1,
} as const;

export type ListedProduct = Pick<Product, '_id' | keyof typeof listedFields>;

/** Roughly what one weighs in memory: its texts, and what the engine needs to hold them. */
export function estimateListedBytes({ name, description }: ListedProduct): number {
  return Buffer.byteLength(name) + Buffer.byteLength(description ?? '') + 500;
}
