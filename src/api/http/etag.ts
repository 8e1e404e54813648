/** ETags of responses that clients poll (decision 030). */
import { createHash } from 'node:crypto';
import type { ListedProduct } from '../../products/read-products.js';
import type { PricedProduct } from '../../providers/price-list.js';
import { runInTurn } from './send-response.js';

/** Products hashed per event loop iteration. Hashing them takes well under a millisecond. */
const batchSize = 200;

/**
 * True if If-None-Match names this state, by weak comparison (RFC 9110, section 13.1.2).
 * `Cache-Control: no-cache` is ignored: `fetch` sends it with every If-None-Match that a program
 * sets.
 */
export function matchesEtag(tag: string, ifNoneMatch = ''): boolean {
  return (
    ifNoneMatch.trim() === '*' || [...ifNoneMatch.matchAll(/"([^"]*)"/g)].some(([, each]) => each === tag)
  );
}

/** Returns the digest of small data. */
export function computeDigest(data: unknown): string {
  return createHash('sha256').update(JSON.stringify(data)).digest('base64url').slice(0, 27);
}

/**
 * Returns the digest of a product list without serializing the list. Like sending the list, hashing
 * blocks the event loop for one piece at a time.
 */
export async function computeProductsDigest(products: Iterable<PricedProduct>): Promise<string> {
  const hash = createHash('sha256');
  const rows = products[Symbol.iterator]();
  let isMore = true;
  while (isMore) {
    isMore = await runInTurn(() => {
      for (let n = 0; n < batchSize; n++) {
        const row = rows.next();
        if (row.done) {
          return false;
        }
        const { product, price, status } = row.value;
        hash.update(`${computeProductDigest(product)} ${price} ${status}\n`);
      }
      return true;
    });
  }
  return hash.digest('base64url').slice(0, 27);
}

/**
 * Digests of everything about a product except its current price and status. The cache can use
 * object identity, because a product remains the same object until it changes.
 */
const digestsByProduct = new WeakMap<ListedProduct, string>();

function computeProductDigest(product: ListedProduct): string {
  const found = digestsByProduct.get(product);
  if (found !== undefined) {
    return found;
  }
  const { _id, name, category, subcategory, operator, description, maxWaitS = null } = product;
  const digest = computeDigest([_id, name, category, subcategory, operator, description, maxWaitS]);
  digestsByProduct.set(product, digest);
  return digest;
}
