/** What tells one state of an answer from another, for who asks again and again (decision 030). */
import { createHash } from 'node:crypto';
import type { ListedProduct } from '../../products/read-products.js';
import type { PricedProduct } from '../../providers/price-list.js';
import { runInTurn } from './send-response.js';

/** Items that are added at once: well under a millisecond. */
const itemsAtOnce = 200;

/**
 * Whether If-None-Match names this state, by weak comparison (RFC 9110, section 13.1.2). A `Cache-Control: no-cache` beside it says
 * nothing to us: `fetch` sends one with every If-None-Match that a program has set.
 */
export function matchesEtag(tag: string, ifNoneMatch = ''): boolean {
  return (
    ifNoneMatch.trim() === '*' || [...ifNoneMatch.matchAll(/"([^"]*)"/g)].some(([, each]) => each === tag)
  );
}

/** The digest of data that is small. */
export function computeDigest(data: unknown): string {
  return createHash('sha256').update(JSON.stringify(data)).digest('base64url').slice(0, 27);
}

/** The digest of a list of products: nothing of it is written as JSON, and it holds the event loop no longer than its sending. */
export async function computeProductsDigest(products: Iterable<PricedProduct>): Promise<string> {
  const hash = createHash('sha256');
  const rows = products[Symbol.iterator]();
  let isMore = true;
  while (isMore) {
    isMore = await runInTurn(() => {
      for (let n = 0; n < itemsAtOnce; n++) {
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

/** Of everything about a product but its price and status of the moment. Products stay the same objects until one is changed. */
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
