/**
 * The inbox receives webhooks and callbacks during development and tests. Deliveries go to
 * /hooks/<anything>; `GET /` shows them. `--help` lists the options.
 */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { wholeNumber } from '../support/arguments.js';
import { createRandom } from '../support/random.js';
import { serve } from '../support/serve.js';
import { createMessageStore } from './message-store.js';
import { createRequestListener } from './request-listener.js';
import { createInboxSettings } from './settings.js';

const help = `Receives webhooks and callbacks, checks their signatures and shows them.

  --port <n>            default INBOX_PORT or 4020; 0 takes any free port
  --host <address>      default INBOX_HOST or 127.0.0.1
  --secrets-file <path> default INBOX_SECRETS_FILE: JSON {"<account or path>": "whsec_…"}
  --seed <n>            seed of the random answers; printed at start, so that you can repeat a run

Deliveries go to /hooks/<anything>. POST /control {"secrets": {...}, "answers": {"/hooks/shop": {"fail_rate": 1,
"fail_status": 503, "times": 2}}} sets secrets and answers; GET /messages lists received deliveries.
`;

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      port: text,
      host: text,
      'secrets-file': text,
      seed: text,
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    console.log(help);
    return;
  }
  const { INBOX_PORT, INBOX_HOST, INBOX_SECRETS_FILE } = process.env;
  const secretsFile = values['secrets-file'] ?? INBOX_SECRETS_FILE;
  const seed = values.seed === undefined ? randomInt(2 ** 32) : wholeNumber('--seed', values.seed);
  const settings = createInboxSettings();
  if (secretsFile !== undefined) {
    settings.change({ secrets: JSON.parse(readFileSync(secretsFile, 'utf8')) as unknown });
  }
  const messages = createMessageStore();
  const { handle, endHanging } = createRequestListener({ settings, messages, random: createRandom(seed) });
  console.log(`inbox: seed ${seed}`);
  await serve({
    name: 'inbox',
    host: values.host ?? INBOX_HOST ?? '127.0.0.1',
    port: wholeNumber('--port', values.port ?? INBOX_PORT ?? '4020'),
    handle,
    onStop: endHanging,
  });
}

main().catch((error: unknown) => {
  console.error(`inbox: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
