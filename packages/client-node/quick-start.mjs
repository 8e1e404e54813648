// node quick-start.mjs <address> <buyer key> <ref_id>: deposits, buys, and waits for the verified webhook.
import { EventEmitter, on, once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient, OutcomeUnknownError, TopupError } from 'topup-client';
import { webhookReceiver } from 'topup-client/webhooks';

const [baseUrl, apiKey, refId] = process.argv.slice(2);
if (refId === undefined || !/^https?:/.test(baseUrl)) {
  console.error('node quick-start.mjs <address: http://…> <buyer key> <ref_id>');
  process.exit(1);
}
let topup;
try {
  topup = createClient({ baseUrl, apiKey });
  await topup.call('listBuyerEndpoints');
} catch (error) {
  const isRefused = error instanceof TopupError;
  console.error(
    isRefused ? `Give a buyer's key (bk_test_…) of this service: ${error.message}` : error.message,
  );
  process.exit(1);
}

const events = new EventEmitter();
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => stop.abort(new Error('Interrupted.')));
}
const came = on(events, 'event', { signal: stop.signal });
const onEvent = (event) => void events.emit('event', event);
const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}/hooks/topup`;
try {
  // Use a separate endpoint, so that the webhook_url of the account does not change.
  const { secret } = await topup.call('createBuyerEndpoint', { body: { url, events: ['transaction.*'] } });
  server.on('request', webhookReceiver({ secret, onEvent }));

  // Sends nothing more after a stop.
  const wallet = createClient({ baseUrl, apiKey, signal: stop.signal });
  await wallet.deposit({ amount: 100_000, ref_id: `deposit-${refId}` });
  await wallet.buy({ code: 'S10', customer_number: '081234561230', ref_id: refId });

  const late = new Error(`No webhook within 60 s. Was ref_id ${refId} used before?`);
  setTimeout(() => stop.abort(late), 60_000).unref();
  for await (const [{ name, body }] of came) {
    if (name === 'transaction.success' && body.data.ref_id === refId) {
      console.log(JSON.stringify({ status: body.data.status, sn: body.data.sn }));
      break;
    }
  }
} catch (error) {
  console.error((stop.signal.reason ?? error).message);
  process.exitCode = 1;
} finally {
  await removeEndpoint();
  server.close();
}

async function removeEndpoint(triesLeft = 5) {
  try {
    // Find it by URL, because the response with its id may be lost.
    for (const { id } of (await topup.call('listBuyerEndpoints')).filter((each) => each.url === url)) {
      await topup.call('removeBuyerEndpoint', { path: { id } });
    }
  } catch (error) {
    // The client does not repeat writes without a ref_id, but this one is safe to repeat.
    if (!(error instanceof OutcomeUnknownError) || triesLeft === 1) {
      console.error(`Could not remove the webhook endpoint ${url}. Remove it yourself.`);
      throw error;
    }
    await wait(1_000);
    await removeEndpoint(triesLeft - 1);
  }
}
