/** Iterators over complete lists, page by page: `for await (const each of …)`. */
import type { BodyOf, Call, Data, Input, OperationId } from './call.js';

type Filter<Id extends OperationId> = Omit<NonNullable<Input<Id>['query']>, 'cursor' | 'page' | 'format'>;
type BodyFilter<Id extends OperationId> = Omit<NonNullable<BodyOf<Id>>, 'page'>;

export function createLists(call: Call) {
  return {
    /**
     * Your purchases, newest first, without those made during the iteration. With a `status` filter
     * some may be missed (`byPage`).
     */
    transactions: (filter: BodyFilter<'listBuyerTransactions'> = {}) => {
      const body = { limit, ...filter };
      return byPage(async (page) => {
        const found = await call('listBuyerTransactions', { body: { ...body, page } });
        return [found.transactions, found.pagination];
      });
    },
    /** Money that you paid in, newest first. */
    deposits: (filter: Filter<'listBuyerDeposits'> = {}) =>
      byCursor(async (cursor) => {
        const query = { limit, ...filter, ...cursor };
        const found = await call('listBuyerDeposits', { query });
        return [found.deposits, found.next_cursor];
      }),
    /** Every movement of the wallet, oldest first. */
    statement: (filter: Filter<'getBuyerStatement'> = {}) =>
      byCursor(async (cursor) =>
        entriesOf(await call('getBuyerStatement', { query: { ...filter, ...cursor } })),
      ),
    /**
     * Webhooks and callbacks to you with their attempts, newest first. With a `status` filter some
     * may be missed (`byPage`).
     */
    deliveries: (filter: Filter<'listBuyerDeliveries'> = {}) =>
      byPage(async (page) =>
        deliveriesOf(await call('listBuyerDeliveries', { query: { limit, ...filter, page } })),
      ),
    /** Your calls of the last day with their answers, newest first. */
    requests: (filter: Filter<'listBuyerRequests'> = {}) =>
      byCursor(async (cursor) =>
        requestsOf(await call('listBuyerRequests', { query: { limit, ...filter, ...cursor } })),
      ),

    /** The same lists with a seller's key. */
    seller: {
      /** Your sales, newest first. */
      transactions: (filter: BodyFilter<'listSellerTransactions'> = {}) => {
        const body = { limit, ...filter };
        return byPage(async (page) => {
          const found = await call('listSellerTransactions', { body: { ...body, page } });
          return [found.transactions, found.pagination];
        });
      },
      /** Your withdrawals, newest first. */
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

/** Maximum page size of the service. */
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
 * Pages have numbers. New items move others to later pages; repetitions are skipped. With a
 * `status` filter, items that leave the status move later items to earlier pages, so some may be
 * missed. Without the filter none is missed.
 *
 * Do not add an `end_date` to freeze the pages: it would hide new items if this clock is behind the
 * service's.
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
