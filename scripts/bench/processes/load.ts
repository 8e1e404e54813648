/** The load: a process of its own that buys, each time with a new ref_id, over connections that stay open. */
import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'undici';
import { answerCalls } from '../support/calls.js';
import { customerNumber, product } from '../support/goods.js';
import { quantile } from '../support/rounds.js';

export interface Load {
  /** Shared by the connections in turn. */
  urls: string[];
  /** JSON: the buyers ({id, key}), each of whom buys in turn. */
  buyersFile: string;
  /** How many of them, from which on (0: the first). */
  buyers: number;
  firstBuyer?: number;
  connections: number;
  /** Of the product. Absent: the one that every bench sells. */
  code?: string;
  /** Where it is sent. Absent: to the call that buys. */
  path?: string;
  /** Ends after whichever comes first. */
  seconds: number;
  purchases?: number;
  /** Sent at this rate, whether answers come or not, as far as the connections reach. Absent: as fast as they come. */
  perSecond?: number;
  /** Sends again what was answered by 503, or not at all, as a client has to: with the same ref_id. */
  repeat?: true;
}

export interface LoadResult {
  /** Answered with 2xx. */
  accepted: number;
  /** The others, by status; 0: no answer. */
  refused: Record<string, number>;
  /** Calls that were sent again. */
  repeated: number;
  seconds: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU of this process, microseconds in all. */
  loadCpuUs: number;
}

const repeatAfterMs = 100;

export function runLoad(): void {
  answerCalls(load);
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
