/**
 * `npm run demo`: shows a deposit, a purchase, the provider's order, the signed webhook and the
 * balance, on the running copy or a temporary one. Prints each step. On failure, prints the reason
 * and exits with 1.
 */
import { randomInt } from 'node:crypto';
import colours from 'picocolors';
import { callService, readList } from './demo/client.js';
import { fillConsole } from './demo/fill-console.js';
import { findOrStartCopy } from './demo/find-copy.js';
import { expect, waitFor } from './demo/wait-for.js';
import { signatureMistake, type Delivery } from './demo/webhook-signature.js';
import { demoProduct } from './start/demo-calls.js';
import type { DemoFile } from './start/demo-file.js';
import { localDirOf } from './start/local-dir.js';
import { PlainError } from './supervisor/plain-error.js';
import { onStopRequest } from './supervisor/on-stop-request.js';

const depositAmount = 100_000;

/** A row of the simulator's GET /log. */
interface Execution {
  ref_id: string;
  code: string;
  customer: string;
}

const stop = new AbortController();
const stopping = stop.signal;
const stopRequested = new Promise((resolve) => {
  stopping.addEventListener('abort', resolve);
});
let exitCode = 1;

async function main(): Promise<void> {
  onStopRequest((reason, code) => {
    print(`${reason}: stopping …`);
    exitCode = code;
    stop.abort();
  });
  const localDir = localDirOf(process.env);
  const copy = await findOrStartCopy(localDir, { stopping, say: (line) => print(colours.dim(line)) });
  try {
    stopping.throwIfAborted();
    step(copy.wasRunning ? 'Found the running service' : 'Started a service for this', copy.demo.base_url);
    await Promise.race([runDemo(copy.demo), stopRequested]);
    stopping.throwIfAborted();
    console.log(`\n${colours.green('✔ The purchase works from end to end.')}`);
    if (copy.wasRunning) {
      await showConsole(copy.demo);
    }
  } finally {
    await copy.leave();
  }
}

async function runDemo(demo: DemoFile): Promise<void> {
  const { base_url: baseUrl, simulator_url: simulatorUrl, inbox_url: inboxUrl } = demo;
  const { api_key: apiKey, webhook_secret: secret } = demo.accounts['buyer'] ?? {};
  if (apiKey === undefined || secret === undefined || simulatorUrl === null || inboxUrl === null) {
    throw new PlainError(
      'This copy runs with NODE_ENV=production, so it has no demo accounts, simulator or inbox.',
    );
  }
  const run = Date.now().toString(36);
  // A unique number identifies this purchase in the simulator's log.
  const customer = `0812${randomInt(1_000, 10_000)}1230`;
  const call = (path: string, body?: object) =>
    callService(`${baseUrl}/api/buyer/${path}`, { apiKey, ...(body && { body }) });

  const before = Number((await call('balance'))['balance']);
  step('Balance before', rupiah(before));

  const deposit = await call('deposit', { amount: depositAmount, ref_id: `demo-deposit-${run}` });
  const funded = Number(deposit['balance_after']);
  step('Deposit', `${rupiah(depositAmount)}, balance now ${rupiah(funded)}`);
  expect(funded - Number(deposit['balance_before']) === depositAmount, 'the deposit was not credited');

  const refId = `demo-${run}`;
  const order = { code: demoProduct.code, customer_number: customer, ref_id: refId };
  const accepted = await call('transaction', order);
  const price = Number(accepted['price']);
  const id = String(accepted['transaction_id']);
  step(
    'Purchase accepted',
    `${String(accepted['product_name'])} for ${customer}, ${rupiah(price)}, status ${String(accepted['status'])}`,
  );

  const final = await waitFor(
    'the purchase is final',
    async () => {
      const now = await callService(`${baseUrl}/v1/transactions/${id}`, { apiKey, method: 'GET' });
      return ['PENDING', 'PROCESSING'].includes(String(now['status'])) ? null : now;
    },
    'Is the fulfilment worker running?',
  );
  expect(
    final['status'] === 'SUCCESS',
    `the purchase ended as ${String(final['status'])}: ${String(final['message'])}`,
  );
  step('Purchase fulfilled by another process', `serial number ${String(final['serial_number'])}`);

  const executions = (await readList<Execution>(`${simulatorUrl}/log`)).filter(
    (row) => row.customer === customer,
  );
  expect(executions.length === 1, `the provider executed it ${executions.length} times instead of once`);
  step('What the provider saw', `one execution, its reference ${executions[0]?.ref_id ?? ''}`);

  await checkWebhook({ inboxUrl, refId, secret });

  const after = Number((await call('balance'))['balance']);
  expect(after === funded - price, `the balance is ${rupiah(after)} instead of ${rupiah(funded - price)}`);
  step('Balance after', `${rupiah(after)} = ${rupiah(before)} + ${rupiah(depositAmount)} - ${rupiah(price)}`);
}

async function checkWebhook(options: { inboxUrl: string; refId: string; secret: string }): Promise<void> {
  const { inboxUrl, refId, secret } = options;
  const delivery = await waitFor(
    'the webhook arrives',
    async () => {
      const deliveries = await readList<Delivery>(`${inboxUrl}/messages?ref_id=${refId}`);
      return deliveries.find(({ raw }) => raw.includes('"transaction.success"')) ?? null;
    },
    'Is the webhooks worker running?',
  );
  const mistake = signatureMistake(delivery, secret);
  expect(mistake === null, `the webhook's signature is invalid: ${mistake ?? ''}`);
  step(
    'Webhook arrived, both signatures are valid',
    `${String(delivery.headers['x-event'])}, attempt ${String(delivery.headers['x-attempt'])}`,
  );
}

/** The user may have removed products or changed accounts, so a failure here is only reported. */
async function showConsole(demo: DemoFile): Promise<void> {
  try {
    await Promise.race([fillConsole(demo), stopRequested]);
  } catch (error) {
    if (!(error instanceof PlainError)) {
      throw error;
    }
    print(`\nThe console got no further examples: ${error.message}`);
    return;
  }
  stopping.throwIfAborted();
  printPages(demo.base_url);
}

/** A temporary copy stops now, so only the user of a running one can look at its pages. */
function printPages(baseUrl: string): void {
  print(`
Look at the console now: ${baseUrl}/admin (the user is admin; the password is in admin-password
of the folder that npm start prints)
  Purchases    successes, a failure, a paid bill, and one that is pending until you end it
  Products     more than 300, sold by the suppliers nusantara and kilat
  Webhooks     delivered to buyer; the receiver of buyer2 fails at first, and retries deliver
  Settlements  a payout of the seller`);
}

function step(what: string, details: string): void {
  print(`${colours.green('✔')} ${what}: ${details}`);
}

/** Prints nothing after Ctrl-C, because more output would hide the line that confirms it. */
function print(line: string): void {
  if (!stopping.aborted) {
    console.log(line);
  }
}

function rupiah(amount: number): string {
  return `Rp ${amount.toLocaleString('en-US')}`;
}

main().catch((error: unknown) => {
  // Errors caused by stopping are not reported.
  if (!stopping.aborted) {
    const reason = error instanceof PlainError ? error.message : error;
    console.error(`\n${colours.red('✘ The demo failed:')}`, reason);
  }
  process.exit(exitCode);
});
