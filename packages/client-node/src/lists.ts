/** Iterators over complete lists. They read page by page: `for await (const each of …)`. */
import type { BodyOf, Call, Data, Input, OperationId } from './call.js';

type Filter<Id extends OperationId> = Omit<NonNullable<Input<Id>['query']>, 'cursor' | 'page' | 'format'>;
type BodyFilter<Id extends OperationId> = Omit<NonNullable<BodyOf<Id>>, 'page'>;

export function createLists(call: Call) {
  return {
    /**
     * Your purchases, newest first. Purchases made during the iteration are not included. With a
     * `status` filter, some purchases may be missed (see `byPage`).
     */
    transactions: (filter: BodyFilter<'listBuyerTransactions'> = {}) => {
      const body = { limit, ...filter };
      return byPage(async (page) => {
        const found = await call('listBuyerTransactions', { body: { ...body, page } });
        return [found.transactions, found.pagination];
      });
    },
    /** Your deposits, newest first. */
    deposits: (filter: Filter<'listBuyerDeposits'> = {}) =>
      byCursor(async (cursor) => {
        const query = { limit, ...filter, ...cursor };
        const found = await call('listBuyerDeposits', { query });
        return [found.deposits, found.next_cursor];
      }),
    /** All movements of your wallet, oldest first. */
    statement: (filter: Filter<'getBuyerStatement'> = {}) =>
      byCursor(async (cursor) =>
        entriesOf(await call('getBuyerStatement', { query: { ...filter, ...cursor } })),
      ),
    /**
     * Your webhook and callback deliveries with their attempts, newest first. With a `status`
     * filter, some deliveries may be missed (see `byPage`).
     */
    deliveries: (filter: Filter<'listBuyerDeliveries'> = {}) =>
      byPage(async (page) =>
        deliveriesOf(await call('listBuyerDeliveries', { query: { limit, ...filter, page } })),
      ),
    /** Your API requests in the last 24 hours with the responses, newest first. */
    requests: (filter: Filter<'listBuyerRequests'> = {}) =>
      byCursor(async (cursor) =>
        requestsOf(await call('listBuyerRequests', { query: { limit, ...filter, ...cursor } })),
      ),

    /** The same lists for the key of a seller. */
    seller: {
      /** Your sales, newest first. */
      transactions: (filter: BodyFilter<'listSellerTransactions'> = {}) => {
        const body = { limit, ...filter };
        return byPage(async (page) => {
          const found = await call('listSellerTransactions', { body: { ...body, page } });
          return [found.transactions, found.pagination];
        });
      },
      /** Your settlements, newest first. */
      settlements: (filter: Filter<'listSettlements'> = {}) =>
        byCursor(async (cursor) => {
          const query = { limit, ...filter, ...cursor };
          const found = await call('listSettlements', { query });
          return [found.settlements, found.next_cursor];
        }),
      statement: (filter: Filter<'getSellerStatement'> = {}) =>
        byCursor(async (cursor) =>
          entriesOf(await call('getSellerStatement', { query: { ...filter, ...cursor } })),
        ),
      deliveries: (filter: Filter<'listSellerDeliveries'> = {}) =>
        byPage(async (page) =>
          deliveriesOf(await call('listSellerDeliveries', { query: { limit, ...filter, page } })),
        ),
      requests: (filter: Filter<'listSellerRequests'> = {}) =>
        byCursor(async (cursor) =>
          requestsOf(await call('listSellerRequests', { query: { limit, ...filter, ...cursor } })),
        ),
    },
  };
}

/** The maximum page size that the service allows. */
const limit = 100;

const entriesOf = ({ entries, next_cursor: next }: Data<'getBuyerStatement'>) => [entries, next] as const;
const requestsOf = ({ requests, next_cursor: next }: Data<'listBuyerRequests'>) => [requests, next] as const;
const deliveriesOf = ({ deliveries, pagination }: Data<'listBuyerDeliveries'>) =>
  [deliveries, pagination] as const;

async function* byCursor<Item>(
  read: (cursor: { cursor?: string }) => Promise<readonly [Item[], string | null]>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | null = null;
  do {
    const [items, next]: readonly [Item[], string | null] = await read(cursor === null ? {} : { cursor });
    yield* items;
    cursor = next;
  } while (cursor !== null);
}

/**
 * Reads numbered pages. New items move other items to later pages, so repeated items are skipped.
 * With a `status` filter, an item that leaves the status moves later items to earlier pages, and
 * some of the moved items may be missed. Without the filter, no item is missed.
 *
 * Do not add an `end_date` to freeze the pages. If the clock of this machine is behind, the
 * `end_date` would hide new items.
 */
async function* byPage<Item extends { id: string } | { transaction_id: string }>(
  read: (page: number) => Promise<readonly [Item[], { total_pages: number }]>,
): AsyncGenerator<Item, void, undefined> {
  const seen = new Set<string>();
  for (let page = 1; ; page++) {
    const [items, { total_pages: pages }] = await read(page);
    for (const item of items) {
      const id = 'id' in item ? item.id : item.transaction_id;
      if (!seen.has(id)) {
        seen.add(id);
        yield item;
      }
    }
    if (page >= pages) {
      return;
    }
  }
}
