import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import type { Account, Role } from '../../../src/accounts/account.model.js';
import { AccountModel } from '../../../src/accounts/account.model.js';
import { createAccount } from '../../../src/accounts/create-account.js';
import { createApp } from '../../../src/app.js';
import { newId } from '../../../src/shared/ids.js';
import { createDeposit } from '../../../src/deposits/create-deposit.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import type { Answer } from '../../support/api-client.js';
import { uniqueRef } from '../../support/api-client.js';
import { expectToFitContract } from '../../support/contract.js';
import { useDatabase } from '../../webhooks/support/database.js';

export interface ApiCall {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'HEAD' | 'DELETE';
  path: string;
  key?: string;
  body?: unknown;
  /** The raw body. If set, it is sent instead of `body`. */
  raw?: string;
  headers?: Record<string, string>;
  /** The client address for X-Forwarded-For. Default: a new address for each call. */
  from?: string;
}

export interface ApiAccount {
  account: Account;
  key: string;
  webhookSecret: string;
}

export interface TestApi {
  call(call: ApiCall): Promise<Answer>;
  /** Returns the base URL, for requests that `call` cannot make. */
  url(): string;
  newAccount(role: Role, over?: Partial<Account>): Promise<ApiAccount>;
  /** Creates a buyer with this balance in rupiah. */
  newBuyer(balance?: number): Promise<ApiAccount>;
}

/**
 * Runs the real app on a port in this process for the tests of one file. It uses the real database
 * and Redis.
 */
export function useApi(): TestApi {
  let server: Server;
  let url = '';
  useDatabase();
  before(async () => {
    const app = createApp();
    // Trust X-Forwarded-For, so that each call can have its own address. Otherwise the wrong keys
    // of one test would limit the calls of another.
    app.set('trust proxy', 1);
    server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const newAccount: TestApi['newAccount'] = async (role, over = {}) => {
    const created = await createAccount({
      username: `t-${newId().slice(8)}`,
      role,
      ...(role === 'seller' && {
        provider: { kind: 'simulator', baseUrl: null, username: 'simulated', secret: 'simulator-secret' },
      }),
    });
    if (Object.keys(over).length > 0) {
      await writeAndInvalidate([AccountModel], null, (rows) =>
        rows.updateOne({ _id: created.account._id }, { $set: over }),
      );
    }
    return { ...created, account: { ...created.account, ...over }, key: created.apiKey };
  };
  return {
    call: (call) => sendCall(url, call),
    url: () => url,
    newAccount,
    newBuyer: async (balance = 0) => {
      const buyer = await newAccount('buyer');
      if (balance > 0) {
        await createDeposit({ account: buyer.account, amount: balance, refId: uniqueRef('fund') });
      }
      return buyer;
    },
  };
}

// Start at a random address, so that the counters of an earlier test run do not apply.
let addresses = Math.floor(Math.random() * 2 ** 24);

/** Returns an address that no other call uses. */
export function uniqueAddress(): string {
  addresses += 1;
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

/**
 * Calls the service at `baseUrl`.
 * @throws Error if the response does not match the contract.
 */
export async function sendCall(baseUrl: string, call: ApiCall): Promise<Answer> {
  const { path, key, body, raw } = call;
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const method = call.method ?? (content === undefined ? 'GET' : 'POST');
  const response = await request(baseUrl + path, {
    method,
    headers: {
      'x-forwarded-for': call.from ?? uniqueAddress(),
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(content !== undefined && { 'content-type': 'application/json' }),
      ...call.headers,
    },
    body: content ?? null,
  });
  const text = await response.body.text();
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  const answer = {
    status: response.statusCode,
    headers: response.headers,
    body: isJson && text !== '' ? (JSON.parse(text) as unknown) : text,
  };
  expectToFitContract({ method, path, ...answer });
  return answer;
}
