/** Helpers for the provider tests: a stack with its own sellers and products. */
import { randomUUID } from 'node:crypto';
import type { Order } from '../../src/purchases/order.model.js';
import type { Purchase } from '../../src/purchases/purchase.model.js';
import { encrypt } from '../../src/shared/encryption.js';
import { announceChange } from '../support/announce-change.js';
import { apiClient, uniqueRef, type ApiClient } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { eventually } from '../support/eventually.js';
import { readInOneSnapshot } from '../support/ledger.js';
import type { Stack } from '../support/stack.js';

export interface TestSeller {
  id: string;
  username: string;
}

/**
 * Sets the connection of the seeded seller to a provider of this test. No other test may use the
 * username.
 */
export async function pointSeller(
  stack: Stack,
  username: string,
  provider: {
    kind: 'simulator' | 'h2h' | 'digiflazz';
    baseUrl: string | null;
    username: string;
    secret: string;
    callbackSecret?: string;
  },
): Promise<TestSeller> {
  const account = await stack.db
    .collection<{ _id: string; username: string }>('accounts')
    .findOne({ username });
  if (!account) {
    throw new Error(`no seller ${username}`);
  }
  const { secret, callbackSecret, ...open } = provider;
  const context = `provider:${account._id}`;
  const settings = {
    ...open,
    secretSealed: encrypt(secret, context),
    ...(callbackSecret !== undefined && { callbackSecretSealed: encrypt(callbackSecret, context) }),
  };
  await stack.db
    .collection<{ _id: string }>('accounts')
    .updateOne({ _id: account._id }, { $set: { provider: settings } });
  await announceChange(stack);
  return { id: account._id, username: provider.username };
}

/**
 * Adds a seller while the service is running.
 * @returns the account id.
 */
export async function addSeller(stack: Stack, username: string): Promise<string> {
  const accounts = stack.db.collection<{ _id: string; username: string }>('accounts');
  const template = await accounts.findOne({ username: 'seller' });
  const _id = randomUUID().replaceAll('-', '');
  // Leave out the webhooks, because the secrets in the template account are encrypted for that
  // account.
  const noWebhooks = { webhookUrl: null, callbackUrl: null };
  await accounts.insertOne({ ...template, ...noWebhooks, _id, username });
  return _id;
}

/** Adds a prepaid product that only these sellers offer. Prices are in rupiah. */
export async function addProduct(
  stack: Stack,
  offers: { sellerId: string; price: number }[],
  code = `T${randomUUID().slice(0, 8)}`,
): Promise<string> {
  const at = new Date();
  await stack.db.collection<{ _id: string }>('products').insertOne({
    _id: code,
    sellerId: offers[0]?.sellerId,
    name: code,
    category: 'prabayar',
    subcategory: 'pulsa',
    operator: null,
    status: 'active',
    description: null,
    customerNumber: { kind: 'any' },
    cutOff: null,
    createdAt: at,
    updatedAt: at,
  } as never);
  await stack.db.collection<{ _id: string }>('offers').insertMany(
    offers.map(({ sellerId, price }) => ({
      _id: `${code}:${sellerId}`,
      productCode: code,
      sellerId,
      price,
      status: 'active',
      createdAt: at,
      updatedAt: at,
    })),
  );
  return code;
}

/** Returns a client for the seeded buyer, with a deposit and a rate limit that no test reaches. */
export async function newBuyer(stack: Stack, apiKey: string, amount = 1_000_000_000): Promise<ApiClient> {
  await stack.db.collection('accounts').updateMany({ role: 'buyer' }, { $set: { rateLimit: 10_000_000 } });
  const buyer = apiClient(stack.baseUrl, apiKey);
  await deposit(buyer, amount);
  return buyer;
}

/** Creates a purchase and returns its id. */
export async function purchase(buyer: ApiClient, code: string, customer: string): Promise<string> {
  const answer = await buyer.post('/v1/transactions', {
    product_code: code,
    destination: customer,
    ref_id: uniqueRef(),
  });
  if (answer.status !== 201) {
    throw new Error(`purchase refused: ${JSON.stringify(answer.body)}`);
  }
  return answer.body.data.id as string;
}

export function transactionOf(stack: Stack, id: string): Promise<Purchase | null> {
  return stack.db.collection<Purchase>('transactions').findOne({ _id: id });
}

export async function waitUntilFinal(stack: Stack, id: string, timeoutMs = 30_000): Promise<Purchase> {
  return eventually(
    `${id} is final`,
    async () => {
      const found = await transactionOf(stack, id);
      return found?.finalAt ? found : null;
    },
    timeoutMs,
  );
}

export function attemptsOf(stack: Stack, transactionId: string): Promise<Order[]> {
  return stack.db.collection<Order>('attempts').find({ transactionId }).sort({ n: 1 }).toArray();
}

/**
 * Reads one snapshot. Returns the sum of lines for each ledger account, and the balance of each
 * wallet.
 */
export async function ledgerOf(
  stack: Stack,
): Promise<{ sums: Record<string, number>; wallets: Record<string, number> }> {
  const { journals, wallets } = await readInOneSnapshot(stack.db);
  const sums: Record<string, number> = {};
  for (const { account, amount } of journals.flatMap(({ lines }) => lines)) {
    sums[account] = (sums[account] ?? 0) + amount;
  }
  return {
    sums,
    wallets: Object.fromEntries(wallets.map(({ _id, balance }) => [String(_id), Number(balance)])),
  };
}
