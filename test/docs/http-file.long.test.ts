/** Sends the calls in /docs/clients/topup.http from top to bottom. */
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { createClient } from '../../packages/client-node/src/client.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { startStack } from '../support/stack.js';

interface WrittenCall {
  name: string;
  path: string;
  init: RequestInit;
}

/** Returns the calls that depend on no earlier response and need no signature. */
function callsIn(file: string, values: Record<string, string>): WrittenCall[] {
  const [head = '', ...parts] = file.split(/^### .*\n/m);
  const own = [...head.matchAll(/^@(\w+) = (.*)$/gm)].map(([, name = '', value = '']) => [name, value]);
  const all: Record<string, string> = { ...(Object.fromEntries(own) as object), ...values };
  const filled = (text: string): string =>
    text.replace(/\{\{(\w+)\}\}/g, (_whole, name: string) => filled(all[name] ?? `no ${name}`));
  return parts
    .filter((part) => !/\{\{(id|sign|signature)\}\}/.test(part))
    .map((part) => {
      const [, name = '', method = '', path = ''] =
        /^# @name (\w+)\n([A-Z]+) \{\{base_url\}\}(\S+)/.exec(part) ?? [];
      const [, key] = /^Authorization: Bearer (\S+)/m.exec(part) ?? [];
      const [, body] = /\n\n(\{[^]*\})\s*$/.exec(part) ?? [];
      return {
        name,
        path: filled(path),
        init: {
          method,
          headers: {
            ...(key !== undefined && { authorization: `Bearer ${filled(key)}` }),
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body: filled(body) }),
        },
      };
    });
}

const isOrder = ({ init }: WrittenCall) => typeof init.body === 'string' && init.body.includes('"ref_id"');

describe('topup.http', function () {
  this.timeout(120_000);

  it('each call succeeds from top to bottom, and a repeated order changes nothing', async () => {
    const stack = await startStack({ workers: ['all'] });
    try {
      const { buyer, seller } = await stack.seed();
      const client = createClient({ baseUrl: stack.baseUrl, apiKey: buyer?.api_key ?? '' });
      await client.deposit({ amount: 1_000_000, ref_id: uniqueRef('file') });
      const calls = callsIn(await readFile(getBuiltProgramPath('generated/topup.http'), 'utf8'), {
        buyer_key: buyer?.api_key ?? '',
        seller_key: seller?.api_key ?? '',
        username: 'buyer',
      });
      const idOf = new Map<string, string>();
      const send = async ({ path, init }: WrittenCall) => {
        const response = await fetch(stack.baseUrl + path, init);
        return { status: response.status, text: await response.text() };
      };
      for (const each of calls) {
        // The purchase that this call reads may still be in progress.
        const answer = await eventually(each.name, async () => {
          const found = await send(each);
          return each.name === 'getReceipt' && found.status === 409 ? null : found;
        });
        expect(answer.status, `${each.name}: ${answer.text}`).to.be.within(200, 299);
        const [, id] = /"(?:transaction_id|settlement_id)":"(\w+)"/.exec(answer.text) ?? [];
        if (isOrder(each) && id !== undefined) {
          idOf.set(each.name, id);
        }
      }
      for (const each of calls.filter(({ name }) => idOf.has(name))) {
        const again = await send(each);
        expect(again.text, each.name).to.include(idOf.get(each.name));
      }
      expect([...idOf.keys()]).to.include.members([
        'createBuyerTransaction',
        'createPayment',
        'requestSettlement',
      ]);
      expect(calls.length).to.be.above(40);
    } finally {
      await stack.stop();
    }
  });
});
