/** Makes purchases, a bill, webhooks and a payout, so that the pages of the console have content. */
import { randomInt } from 'node:crypto';
import type { DemoFile } from '../start/demo-file.js';
import { PlainError } from '../supervisor/plain-error.js';
import { callService } from './client.js';
import { expect, waitFor } from './wait-for.js';

/** Products of the suppliers nusantara and kilat, with the result by the number's ending. */
const purchases = [
  { code: 'GPY50', ending: '1230' },
  { code: 'GPY20', ending: '1230' },
  { code: 'OVO50', ending: '1230' },
  { code: 'X30', ending: '1230', prefix: '0817' },
  { code: 'T40', ending: '1232', prefix: '0896' },
  { code: 'OVO25', ending: '1233' },
  { code: 'AX15', ending: '1238', prefix: '0838' },
];
/** Covers everything that a run buys, in rupiah. */
const depositAmount = 3_000_000;
/** In rupiah. The sale of the meter token pays for it. */
const payoutAmount = 50_000;
/** The receiver of buyer2 refuses this many deliveries, then takes them again. */
const failedDeliveries = 5;

export async function fillConsole(demo: DemoFile): Promise<void> {
  const run = Date.now().toString(36);
  const buy = (username: string) => createBuyer(demo, username, run);
  const buyer = buy('buyer');
  const buyer2 = buy('buyer2');
  await waitForProducts(buyer.call);
  await failDeliveries(demo);
  for (const each of [buyer, buyer2]) {
    await each.call('deposit', { amount: depositAmount, ref_id: `demo-fill-${run}` });
  }
  for (const { code, ending, prefix = '0812' } of purchases) {
    await buyer.purchase(code, `${prefix}${randomInt(1_000, 10_000)}${ending}`);
  }
  await buyer2.purchase('S10', `0812${randomInt(1_000, 10_000)}1230`);
  await payBill(buyer.call, run);
  await buyer.purchase('PLN1000', `1234${randomInt(100, 1_000)}1230`);
  await requestPayout(demo);
}

type Call = (path: string, body: object) => Promise<Record<string, unknown>>;

function createBuyer({ base_url: baseUrl, accounts }: DemoFile, username: string, run: string) {
  const apiKey = accounts[username]?.api_key ?? '';
  const call: Call = (path, body) => callService(`${baseUrl}/api/buyer/${path}`, { apiKey, body });
  const purchase = (code: string, customer: string) =>
    call('transaction', { code, customer_number: customer, ref_id: `demo-${code}-${run}` });
  return { call, purchase };
}

/** The import begins when the service is ready, so it may still run. */
async function waitForProducts(call: Call): Promise<void> {
  const wanted = new Set(purchases.map(({ code }) => code));
  await waitFor(
    "the suppliers' products are for sale",
    async () => {
      const products = (await call('price-list', {})) as unknown as { code: string; status: string }[];
      const found = products.filter(({ code, status }) => wanted.has(code) && status === 'active');
      return found.length === wanted.size ? found : null;
    },
    'A database with other accounts or products gets none; see docs/reference/api/sandbox.md.',
  );
}

async function failDeliveries({ inbox_url: inboxUrl }: DemoFile): Promise<void> {
  const rule = { fail_rate: 1, times: failedDeliveries };
  const response = await fetch(`${inboxUrl ?? ''}/control`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ answers: { buyer2: rule } }),
    signal: AbortSignal.timeout(10_000),
  });
  expect(response.ok, `the inbox refused its rule with ${response.status}`);
}

async function payBill(call: Call, run: string): Promise<void> {
  const bill = { code: 'PLNPOST', customer_number: `5300${randomInt(1_000, 10_000)}1240` };
  await call('inquiry', { ...bill, ref_id: `demo-inquiry-${run}` });
  await call('payment', { ...bill, ref_id: `demo-bill-${run}` });
}

/** The seller is credited after the sale, so the first requests may be refused. */
async function requestPayout({ base_url: baseUrl, accounts }: DemoFile): Promise<void> {
  const apiKey = accounts['seller']?.api_key ?? '';
  const body = {
    amount: payoutAmount,
    bank_account: { bank_code: 'BCA', account_number: '1234567890', account_name: 'Seller' },
  };
  await waitFor(
    'the seller can request a payout',
    async () => {
      try {
        return await callService(`${baseUrl}/api/seller/settlement/request`, { apiKey, body });
      } catch (error) {
        if (error instanceof PlainError) {
          return null;
        }
        throw error;
      }
    },
    'Is the sellers worker running?',
  );
}
