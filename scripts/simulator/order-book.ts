/** What the simulator has taken and executed: in memory, and line by line in a file so that a restart knows it. */
import { createReadStream, mkdirSync, openSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Plan } from './plan.js';

/** One order as it was taken, or as it was ended. What its state is now follows from the plan and the time. */
export interface Order {
  /** ISO 8601 UTC. */
  at: string;
  kind: 'request' | 'payment';
  /** The username of the caller: each one is a provider of its own. */
  provider: string;
  ref_id: string;
  code: string;
  customer: string;
  plan: Plan;
  /** Why it is refused, if it is. */
  reason: string | null;
  /** ISO 8601 UTC; a pending order is final from then on. */
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
  /** Written to the file before it returns: whatever was answered is still known after a kill -9. */
  add(order: Order): void;
  /** The same of an order that got another plan: the later line counts. */
  replace(order: Order): void;
  /** Oldest first. */
  executions(): readonly Execution[];
}

/** Reads what an earlier run left in `directory`. */
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
  // A process killed while it wrote leaves half a line; its order was never answered.
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

/** What was taken back is no execution any more. */
function isExecuted(plan: Plan): boolean {
  return !['refused', 'pending-refused', 'held', 'ended-failed', 'reversed'].includes(plan);
}

/** Calls `take` for each whole line. Returns the length in bytes of the whole lines. */
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
