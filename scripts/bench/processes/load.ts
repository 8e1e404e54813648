/**
 * The load generator: a separate process that buys over keep-alive connections, each time with a
 * new ref_id.
 */
import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'undici';
import { serveCalls } from '../support/calls.js';
import { customerNumber, product } from '../support/bench-product.js';
import { quantile } from '../support/rounds.js';

export interface Load {
  /** Addresses that the connections use in turn. */
  urls: string[];
  /** A JSON file of buyers ({id, key}), used in turn. */
  buyersFile: string;
  /** Number of buyers to use. */
  buyers: number;
  /** Index of the first buyer. Default 0. */
  firstBuyer?: number;
  connections: number;
  /** Product code. By default the product that every benchmark sells. */
  code?: string;
  /** Request path. By default the purchase call. */
  path?: string;
  /** The load ends after `seconds` or `purchases`, whichever comes first. */
  seconds: number;
  purchases?: number;
  /**
   * Target rate, kept regardless of response times while a connection is free. By default, each
   * connection sends the next call as soon as it has a response.
   */
  perSecond?: number;
  /** Repeats calls that got no response or a 503, with the same ref_id. */
  repeat?: true;
}

export interface LoadResult {
  /** Number of responses with a 2xx status. */
  accepted: number;
  /** Number of other responses by status. Status 0 means no response. */
  refused: Record<string, number>;
  /** Number of calls that were repeated. */
  repeated: number;
  seconds: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time of this process in microseconds. */
  loadCpuUs: number;
}

const repeatAfterMs = 100;

export function runLoad(): void {
  serveCalls(load);
}

async function load(wanted: Load): Promise<LoadResult> {
  const { urls, connections, seconds, purchases = Infinity, perSecond, repeat = false } = wanted;
  const path = wanted.path ?? '/api/buyer/transaction';
  const bodyOf = bodies(wanted.code ?? product.code);
  const buyers = readBuyers(wanted);
  const latencies: number[] = [];
  const refused: Record<string, number> = {};
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  let next = 0;
  let repeated = 0;

  const connection = async (index: number): Promise<void> => {
    const client = new Client(urls[index % urls.length] ?? '', { pipelining: 1 });
    while (next < purchases && performance.now() - startedMs < 1_000 * seconds) {
      const at = next;
      next += 1;
      const dueMs = perSecond === undefined ? 0 : startedMs + (1_000 * at) / perSecond - performance.now();
      if (dueMs > 0) {
        await pause(dueMs);
      }
      const sentMs = performance.now();
      const buyer = buyers[at % buyers.length] ?? '';
      let status = await buy(client, { path, authorization: buyer, body: bodyOf(at) });
      for (; repeat && (status === 503 || status === 0); repeated++) {
        await pause(repeatAfterMs);
        status = await buy(client, { path, authorization: buyer, body: bodyOf(at) });
      }
      if (status >= 200 && status < 300) {
        latencies.push(performance.now() - sentMs);
      } else {
        refused[status] = (refused[status] ?? 0) + 1;
      }
    }
    await client.close();
  };
  await Promise.all(Array.from({ length: connections }, (_each, index) => connection(index)));

  const took = (performance.now() - startedMs) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    accepted: latencies.length,
    refused,
    repeated,
    seconds: took,
    perSecond: latencies.length / took,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    loadCpuUs: user + system,
  };
}

async function buy(
  client: Client,
  { path, authorization, body }: { path: string; authorization: string; body: string },
): Promise<number> {
  try {
    const response = await client.request({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json', authorization },
      body,
    });
    await response.body.dump();
    return response.statusCode;
  } catch {
    return 0;
  }
}

function bodies(code: string): (at: number) => string {
  const run = `${Date.now().toString(36)}-${process.pid}`;
  return (at) => `{"code":"${code}","customer_number":"${customerNumber}","ref_id":"${run}-${at}"}`;
}

function readBuyers({ buyersFile, buyers, firstBuyer = 0 }: Load): string[] {
  const all = JSON.parse(fs.readFileSync(buyersFile, 'utf8')) as { key: string }[];
  return all.slice(firstBuyer, firstBuyer + buyers).map(({ key }) => `Bearer ${key}`);
}
