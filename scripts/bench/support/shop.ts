/**
 * The shop of our service, with one seller, one product, and buyers with money. It is written in
 * bulk in the service's format.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import '../../../src/all-models.js';
import { getWebhookSecretContext } from '../../../src/accounts/secret-contexts.js';
import { AccountModel } from '../../../src/accounts/account.model.js';
import {
  buildApiKeyDocument,
  createAccount,
  generateWebhookSecret,
} from '../../../src/accounts/create-account.js';
import { ApiKeyModel } from '../../../src/accounts/api-key.model.js';
import { generateApiKey } from '../../../src/accounts/api-key.js';
import { migrate } from '../../../src/database/migrate.js';
import { connectMongo } from '../../../src/database/mongo.js';
import { buildCompletedDeposit, buildDepositMovement } from '../../../src/deposits/create-deposit.js';
import { deposits, toStored } from '../../../src/deposits/deposit.model.js';
import { journals } from '../../../src/money/journals/journal.model.js';
import { buildJournal } from '../../../src/money/journals/new-journal.js';
import { wallets } from '../../../src/money/wallets/wallet.model.js';
import { toInt64 } from '../../../src/database/typed-collection.js';
import { OfferModel } from '../../../src/products/offer.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { ProductModel } from '../../../src/products/product.model.js';
import { encrypt } from '../../../src/shared/encryption.js';
import { newId } from '../../../src/shared/ids.js';
import { openingBalance, product, type Buyer } from './bench-product.js';

export interface Shop {
  buyers: Buyer[];
  /** A JSON file of the buyers, for helper processes. */
  buyersFile: string;
  sellerId: string;
}

const batchSize = 2_000;
const noLimit = 1_000_000_000;

/**
 * Connects this process and fills the empty database.
 * @param options.inboxUrl Base address for webhooks, with one path per buyer. If it is absent, no
 * buyer has webhooks.
 * @param options.balance The opening balance of each buyer, in rupiah.
 */
export async function openShop(options: {
  buyers: number;
  inboxUrl?: string;
  balance?: (index: number) => number;
  rateLimit?: number;
}): Promise<Shop> {
  await connectMongo();
  await migrate();
  const sellerId = await openSeller('seller', product.code);
  const { account: model } = await createAccount({ username: 'bench-model', role: 'buyer' });
  const buyers: Buyer[] = [];
  while (buyers.length < options.buyers) {
    const count = Math.min(batchSize, options.buyers - buyers.length);
    const batch = Array.from({ length: count }, buildBuyer);
    await writeAndInvalidate([AccountModel, ApiKeyModel], null, async (accounts, apiKeys) => {
      await accounts.collection.insertMany(
        batch.map(({ id, webhookSecret }) => ({
          ...model,
          _id: id,
          username: `bench-${id.slice(-20)}`,
          rateLimit: options.rateLimit ?? noLimit,
          webhookUrl: options.inboxUrl === undefined ? null : `${options.inboxUrl}/hooks/${id}`,
          webhookSecretSealed: encrypt(webhookSecret, getWebhookSecretContext(id)),
        })) as never[],
      );
      await apiKeys.collection.insertMany(
        batch.map(({ id, key }) => buildApiKeyDocument(id, key)) as never[],
      );
    });
    await fillWallets(
      batch.map(({ id }, at) => ({ id, amount: options.balance?.(buyers.length + at) ?? openingBalance })),
    );
    buyers.push(...batch);
  }
  const buyersFile = path.join(os.tmpdir(), 'buyers.json');
  fs.writeFileSync(buyersFile, JSON.stringify(buyers), { mode: 0o600 });
  return { buyers, buyersFile, sellerId };
}

function buildBuyer(): Buyer {
  return { id: newId(), key: generateApiKey('buyer', 'test'), webhookSecret: generateWebhookSecret() };
}

/**
 * Creates a seller with a product that no other seller offers.
 * @param username The provider's user name at the simulator.
 * @returns The seller's id.
 */
export async function openSeller(username: string, code: string): Promise<string> {
  const { account } = await createAccount({
    username: `bench-${username}`,
    role: 'seller',
    provider: { kind: 'simulator', baseUrl: null, username, secret: 'simulator-secret' },
  });
  await addProduct(account._id, code);
  return account._id;
}

async function addProduct(sellerId: string, code: string): Promise<void> {
  const { name, price } = product;
  await writeAndInvalidate([ProductModel, OfferModel], null, async (products, offers) => {
    await products.create({
      _id: code,
      sellerId,
      name,
      category: 'prabayar',
      subcategory: 'pulsa',
      operator: 'Telkomsel',
      status: 'active',
      customerNumber: { kind: 'phone', prefixes: ['0812'] },
    });
    await offers.create({
      _id: `${code}:${sellerId}`,
      productCode: code,
      sellerId,
      price,
      status: 'active',
    });
  });
}

/** Writes one completed deposit per buyer in the service's format. Amounts are in rupiah. */
async function fillWallets(buyers: { id: string; amount: number }[]): Promise<void> {
  const made = buyers.map(({ id, amount }) => {
    const pending = { _id: newId(), accountId: id, refId: 'opening', amount, status: 'pending' as const };
    const times = { createdAt: new Date(), completedAt: null };
    const after = { balance: amount, held: 0, seq: 1 };
    const deposit = buildCompletedDeposit({ ...pending, ...times, balanceBefore: 0, balanceAfter: 0 }, after);
    return { deposit, journal: buildJournal(newId(), buildDepositMovement(deposit), after) };
  });
  await deposits.insertMany(made.map(({ deposit }) => toStored(deposit)));
  await journals.insertMany(made.map(({ journal }) => journal));
  await wallets.insertMany(
    buyers.map(({ id, amount }) => ({
      _id: id,
      balance: toInt64(amount),
      held: toInt64(0),
      seq: toInt64(1),
    })),
  );
}
