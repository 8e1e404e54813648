/**
 * Orders and executions of the simulator, in memory and in a line-based file that survives
 * restarts.
 */
import { createReadStream, mkdirSync, openSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Plan } from './plan.js';

/**
 * An order in its accepted or ended state. The current state follows from the plan and the time.
 */
export interface Order {
  /** ISO 8601 time in UTC. */
  at: string;
  kind: 'request' | 'payment';
  /** Username of the caller. Each username is a separate provider. */
  provider: string;
  ref_id: string;
  code: string;
  customer: string;
  plan: Plan;
  /** Reason of a refusal. Null if the order was not refused. */
  reason: string | null;
  /** ISO 8601 time in UTC at which a pending order becomes final. */
  final_at: string;
}

/** A row of GET /log. */
export interface Execution {
  at: string;
  provider: string;
  ref_id: string;
  code: string;
  customer: string;
}

export interface OrderBook {
  find(provider: string, refId: string): Order | undefined;
  /** Writes to the file before it returns, so that orders with a response survive a kill -9. */
  add(order: Order): void;
  /** Replaces an order whose plan has changed. The later line in the file wins. */
  replace(order: Order): void;
  /** Returns all executions, oldest first. */
  executions(): readonly Execution[];
}

/** Opens the order book with the orders of earlier runs in `directory`. */
export async function openOrderBook(directory: string): Promise<OrderBook> {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, 'orders.jsonl');
  const file = openSync(path, 'a');
  const orders = new Map<string, Order>();
  const executed = new Map<string, Execution>();

  const remember = (order: Order): void => {
    const key = keyOf(order.provider, order.ref_id);
    orders.set(key, order);
    if (isExecuted(order.plan)) {
      const { at, provider, ref_id, code, customer } = order;
      executed.set(key, { at, provider, ref_id, code, customer });
    } else {
      executed.delete(key);
    }
  };
  const write = (order: Order): void => {
    writeSync(file, `${JSON.stringify(order)}\n`);
    remember(order);
  };
  // A process killed during a write leaves an incomplete line. Its order never got a response.
  truncateSync(path, await readLines(path, (line) => remember(JSON.parse(line) as Order)));

  return {
    find: (provider, refId) => orders.get(keyOf(provider, refId)),
    add: write,
    replace: write,
    executions: () => [...executed.values()],
  };
}

function keyOf(provider: string, refId: string): string {
  return `${provider}\n${refId}`;
}

/** True if the plan executes the order. A reversed order does not count as executed. */
function isExecuted(plan: Plan): boolean {
  return !['refused', 'pending-refused', 'held', 'ended-failed', 'reversed'].includes(plan);
}

/** Calls `take` for each complete line. Returns the length of all complete lines in bytes. */
async function readLines(path: string, take: (line: string) => void): Promise<number> {
  let rest = Buffer.alloc(0);
  let length = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    const data = Buffer.concat([rest, chunk]);
    const end = data.lastIndexOf(0x0a) + 1;
    for (const line of data.toString('utf8', 0, end).split('\n')) {
      if (line !== '') {
        take(line);
      }
    }
    length += end;
    rest = data.subarray(end);
  }
  return length;
}
