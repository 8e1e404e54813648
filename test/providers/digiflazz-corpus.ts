/**
 * Made-up responses in the layouts of Digiflazz's public documentation, with the expected result of
 * the adapter next to each.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { ProviderConnection } from '../../src/providers/adapter.js';
import { createDigiflazzAdapter } from '../../src/providers/digiflazz.js';
import { startPlayServer } from './play-server.js';

export interface CorpusCase {
  name: string;
  call: 'buy' | 'inquireBill' | 'balance' | 'inquireMeter';
  /** The raw response. */
  response: string;
  expected: object;
}

const folder = 'test/providers/corpus/digiflazz';

export function readDigiflazzCorpus(): CorpusCase[] {
  const suffix = '.expected.json';
  return readdirSync(folder)
    .filter((each) => each.endsWith(suffix))
    .map((each) => {
      const name = each.slice(0, -suffix.length);
      const { call, expected } = JSON.parse(readFileSync(`${folder}/${each}`, 'utf8')) as CorpusCase;
      return { name, call, expected, response: readFileSync(`${folder}/${name}.json`, 'utf8') };
    });
}

/** Serves any response over HTTP, and returns what the adapter makes of it. */
export async function startCorpusReader() {
  let next = '';
  const floats: number[] = [];
  const server = await startPlayServer((_call, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(next);
  });
  const adapter = createDigiflazzAdapter((_sellerId, amount) => floats.push(amount));
  const connection: ProviderConnection = {
    sellerId: 'seller',
    baseUrl: server.url,
    username: 'us',
    secret: 'secret',
  };
  /** The order that the response states. */
  const buildOrder = (response: string) => ({
    providerRef: 'order-1',
    productCode: findText(response, 'buyer_sku_code') ?? 'xld10',
    customerNumber: findText(response, 'customer_no') ?? '087800001233',
    costMax: 1,
  });
  return {
    floats,
    read(call: CorpusCase['call'], response: string): Promise<object> {
      next = response;
      switch (call) {
        case 'buy':
          return adapter.buy(connection, buildOrder(response));
        case 'inquireBill':
          return adapter.inquireBill(connection, buildOrder(response));
        case 'balance':
          return adapter.balance(connection);
        case 'inquireMeter':
          return adapter.inquireMeter?.(connection, '1234554321') ?? Promise.resolve({});
      }
    },
    stop: () => server.stop(),
  };
}

function findText(json: string, field: string): string | undefined {
  return new RegExp(`"${field}":\\s*"([^"]+)"`).exec(json)?.[1];
}
