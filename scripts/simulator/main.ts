/**
 * The provider simulator: an HTTP server that simulates any number of h2h providers. The service
 * knows only its address. `GET /` explains it; `--help` lists the options.
 */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { wholeNumber } from '../support/arguments.js';
import { createRandom } from '../support/random.js';
import { serve } from '../support/serve.js';
import { createBillDesk } from './bill.js';
import { openOrderBook, type Order, type OrderBook } from './order-book.js';
import { createRequestListener } from './request-listener.js';
import { sendCallback } from './send-callback.js';
import { createSettings, type Behaviour } from './settings.js';
import { createOrderDesk, statusOf } from './take-order.js';

const help = `Simulates providers with the reseller-software protocol.

  --port <n>        default SIMULATOR_PORT or 4010; 0 takes any free port
  --host <address>  default SIMULATOR_HOST or 127.0.0.1
  --data-dir <path> default SIMULATOR_DATA_DIR or <LOCAL_DIR or .local>/simulator: stores executed orders
  --secret <text>   default SIMULATOR_SECRET or simulator-secret: signs the requests of every username
  --seed <n>        seed of the random faults; printed at start, so that you can repeat a run
`;

async function main(): Promise<void> {
  const options = readOptions();
  if (options === null) {
    console.log(help);
    return;
  }
  const { dataDir, secret, seed, host, port } = options;
  const random = createRandom(seed);
  const now = Date.now;
  const settings = createSettings();
  const book = await openOrderBook(dataDir);
  const bills = createBillDesk(now);
  const onTaken = (order: Order, behaviour: Behaviour): void =>
    announce(order, { behaviour, requestSecret: secret, book });
  const orders = createOrderDesk({ book, bills, random, now, onTaken });
  const { handle, endSilences } = createRequestListener({
    settings,
    orders,
    bills,
    random,
    secret,
    now,
    book,
  });
  console.log(`simulator: ${book.executions().length} executions known, seed ${seed}`);
  await serve({ name: 'simulator', host, port, handle, onStop: endSilences });
}

/** Posts the result to the callback address, if one is set, once the order is final. */
function announce(
  order: Order,
  { behaviour, requestSecret, book }: { behaviour: Behaviour; requestSecret: string; book: OrderBook },
): void {
  const { callback_url: url, callback_secret: secret } = behaviour;
  if (url === null) {
    return;
  }
  const send = (): void => {
    // GET /end may have ended the order in the meantime.
    const known = book.find(order.provider, order.ref_id) ?? order;
    const status = statusOf(known, Math.max(Date.now(), Date.parse(known.final_at)));
    if (status !== 'pending') {
      const outcome = status === 'success' ? 'success' : 'failed';
      void sendCallback(known, outcome, { url, secret: secret ?? requestSecret });
    }
  };
  setTimeout(send, behaviour.latency_ms + Date.parse(order.final_at) - Date.parse(order.at)).unref();
}

interface Options {
  host: string;
  port: number;
  dataDir: string;
  secret: string;
  seed: number;
}

function readOptions(): Options | null {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      port: text,
      host: text,
      'data-dir': text,
      secret: text,
      seed: text,
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    return null;
  }
  const { SIMULATOR_PORT, SIMULATOR_HOST, SIMULATOR_DATA_DIR, SIMULATOR_SECRET, LOCAL_DIR } = process.env;
  return {
    host: values.host ?? SIMULATOR_HOST ?? '127.0.0.1',
    port: wholeNumber('--port', values.port ?? SIMULATOR_PORT ?? '4010'),
    dataDir: values['data-dir'] ?? SIMULATOR_DATA_DIR ?? join(LOCAL_DIR ?? '.local', 'simulator'),
    secret: values.secret ?? SIMULATOR_SECRET ?? 'simulator-secret',
    seed: values.seed === undefined ? randomInt(2 ** 32) : wholeNumber('--seed', values.seed),
  };
}

main().catch((error: unknown) => {
  console.error(`simulator: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
