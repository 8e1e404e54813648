/**
 * Runs the clients of all languages with the same commands: packages/client-node in this process,
 * and the others as child processes.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { projectRoot } from '../../../config/project-file.js';
import {
  createClient,
  OutcomeUnknownError,
  TopupError,
  type Order,
} from '../../../packages/client-node/src/client.js';
import { createResellerClient } from '../../../packages/client-node/src/reseller.js';
import type { toVerifyInput } from './vectors.js';
import { verifyWebhook, WebhookError } from '../../../packages/client-node/src/webhooks.js';
import type { Tool } from '../../support/require-tool.js';

export interface Command {
  do:
    | 'buy'
    | 'deposit'
    | 'balance'
    | 'createEndpoint'
    | 'listEndpoints'
    | 'waitForResult'
    | 'transactions'
    | 'statement'
    | 'download'
    | 'callReport'
    | 'callStatement'
    | 'downloadStatement'
    | 'resellerRequest'
    | 'resellerBalance'
    | 'resellerPriceList'
    | 'verify';
  url?: string;
  key?: string;
  username?: string;
  with?: object;
  /** True to add the message to the result if the outcome is unknown. */
  tellsMessage?: true;
}

/**
 * The result of a client: `ok` or the kind of error. The clients wait 50 ms between attempts and
 * make at most four.
 */
export type Result =
  | { ok: unknown }
  | { error: 'refused'; httpStatus: number; code: string; reason: string }
  | { error: 'unknown'; refId: string | null; message?: string }
  | { error: 'forged' | 'usage'; message: string };

export interface Driver {
  play(command: Command): Promise<Result>;
  stop(): void;
}

export interface Language {
  name: string;
  start(): Driver;
  /** The file of the quick start, and the command that runs it. */
  quickStart: { file: string; command: string[] };
  /** The tool that the client needs. Null if it needs only Node. */
  needs: Tool | null;
}

const nodeDriver: Driver = {
  play: (command) =>
    runCommand(command).then(
      (ok) => ({ ok }),
      (error: unknown) => failureOf(error, command),
    ),
  stop: () => undefined,
};

export const languages: Language[] = [
  {
    name: 'packages/client-node',
    start: () => nodeDriver,
    quickStart: {
      file: 'packages/client-node/quick-start.mjs',
      command: [process.execPath],
    },
    needs: null,
  },
  {
    name: 'clients/python',
    start: () => startDriver('python3', 'drive.py'),
    quickStart: { file: 'clients/python/quick_start.py', command: ['python3', '-B'] },
    needs: 'python3',
  },
  {
    name: 'clients/php',
    start: () => startDriver('php', 'drive.php'),
    quickStart: { file: 'clients/php/quick-start.php', command: ['php'] },
    needs: 'php',
  },
];

async function runCommand(command: Command): Promise<unknown> {
  const { url: baseUrl = 'http://none.invalid', key: apiKey = '', username = '' } = command;
  const options = { timeoutMs: 5_000, attemptsMax: 4, waitMaxMs: 50 };
  const client = createClient({ baseUrl, apiKey, ...options });
  const reseller = createResellerClient({ baseUrl, apiKey, username, ...options });
  const given = (command.with ?? {}) as Record<string, never>;
  switch (command.do) {
    case 'buy':
      return client.buy(given as unknown as Order);
    case 'deposit':
      return client.deposit(given as unknown as Parameters<typeof client.deposit>[0]);
    case 'balance':
      return (await client.call('getBuyerBalance')).balance;
    case 'createEndpoint':
      return client.call('createBuyerEndpoint', { body: given as unknown as { url: string } });
    case 'listEndpoints':
      return (await client.call('listBuyerEndpoints')).map(({ id }) => id);
    case 'waitForResult':
      return client.waitForResult(String(given['ref_id']));
    case 'transactions':
      return (await collectAll(client.transactions(given))).map((each) => each.ref_id);
    case 'statement':
      return (await collectAll(client.statement(given))).map((each) => each.balance);
    case 'download':
      return (await client.download('downloadBuyerReport', { path: { id: String(given['id']) } })).toString(
        'base64',
      );
    case 'callReport':
      // The type definitions do not allow this call, so it needs a cast.
      return client.call('downloadBuyerReport' as 'getBuyerReport', { path: { id: String(given['id']) } });
    case 'callStatement':
      return client.call('getBuyerStatement', { query: given });
    case 'downloadStatement':
      return (await client.download('getBuyerStatement', { query: given })).toString('base64');
    case 'resellerRequest':
      return reseller.request(given as unknown as Parameters<typeof reseller.request>[0]);
    case 'resellerBalance':
      return reseller.balance();
    case 'resellerPriceList':
      return reseller.priceList(given);
    case 'verify': {
      const { headers, body, secret, now } = command.with as ReturnType<typeof toVerifyInput>;
      return verifyWebhook({ headers, body }, { secret, nowS: now });
    }
  }
}

function failureOf(error: unknown, { tellsMessage }: Command): Result {
  if (error instanceof TopupError) {
    const { httpStatus, code, reason } = error;
    return { error: 'refused', httpStatus, code, reason };
  }
  if (error instanceof OutcomeUnknownError) {
    return { error: 'unknown', refId: error.refId, ...(tellsMessage && { message: error.message }) };
  }
  if (error instanceof WebhookError || error instanceof TypeError) {
    return { error: error instanceof TypeError ? 'usage' : 'forged', message: error.message };
  }
  throw error;
}

function startDriver(program: string, script: string): Driver {
  const path = join(projectRoot, 'test/client/support', script);
  const child = spawn(program, [path], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async play(command) {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      const { value, done } = await lines.next();
      if (done === true) {
        throw new Error(`${script} ended`);
      }
      return JSON.parse(value) as Result;
    },
    stop: () => void child.stdin.end(),
  };
}

/** Collects all items of an iterator. */
export async function collectAll<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const each of items) {
    found.push(each);
  }
  return found;
}
