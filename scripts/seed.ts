/**
 * `node dist/scripts/seed.js [--json]`: creates demo accounts and a catalogue. Safe to run at every
 * start: existing data is kept, and demo URLs are updated to the current ports of simulator and
 * inbox.
 */
import { randomBytes } from 'node:crypto';
import { getWebhookSecretContext } from '../src/accounts/secret-contexts.js';
import { readCatalogue } from '../config/catalogue.js';
import { env } from '../config/env.js';
import { isGuarded } from '../config/refused-settings.js';
import '../src/all-models.js';
import { AccountModel, type Account } from '../src/accounts/account.model.js';
import { createAccount, type NewAccount } from '../src/accounts/create-account.js';
import { getDecryptedApiKey } from '../src/accounts/api-key.js';
import { bySystem } from '../src/audit/record-audit.js';
import { setOperatorPassword, createOperator } from '../src/operators/manage-operators.js';
import { OperatorModel, type Operator } from '../src/operators/operator.model.js';
import { isCorrectPassword } from '../src/operators/password.js';
import { getCustomerNumberRule } from '../src/products/create-product.js';
import { OfferModel } from '../src/products/offer.model.js';
import { ProductModel } from '../src/products/product.model.js';
import { decrypt } from '../src/shared/encryption.js';
import { connectMongo, disconnectMongo } from '../src/database/mongo.js';
import { writeAndInvalidate } from '../src/redis/publish-changes.js';
import { connectRedis, disconnectRedis } from '../src/redis/connection.js';
import { requireRedisVersion } from '../src/redis/server-health.js';
import { ServerTooOldError } from '../src/shared/server-versions.js';

const inboxUrl = process.env['INBOX_URL'];
const simulatorSecret = process.env['SIMULATOR_SECRET'] ?? 'simulator-secret';
const sellerNames = ['seller', 'seller2', 'seller3'];
const buyerNames = ['buyer', 'buyer2', 'suspended'];

const operatorName = 'admin';

interface DemoOperator {
  username: string;
  /** Absent if a user has changed it. */
  password?: string;
}

interface DemoAccount {
  username: string;
  api_key: string;
  webhook_secret: string;
}

async function main(): Promise<void> {
  if (isGuarded(env)) {
    throw new Error(
      'The demo data is not for production. Create accounts with: npm run topup -- account create',
    );
  }
  await Promise.all([connectMongo(), connectRedis()]);
  await requireRedisVersion();
  const accounts: Record<string, DemoAccount | DemoOperator> = {};
  for (const username of [...buyerNames, ...sellerNames]) {
    accounts[username] = await ensureAccount(username);
  }
  accounts[operatorName] = await ensureOperator();
  await writeAndInvalidate([AccountModel], null, (each) =>
    each.updateOne({ username: 'suspended' }, { $set: { status: 'suspended' } }),
  );
  await ensureCatalogue();
  await disconnectRedis();
  await disconnectMongo();
  console.log(process.argv.includes('--json') ? JSON.stringify({ accounts }) : 'Demo data is ready.');
}

async function ensureAccount(username: string): Promise<DemoAccount> {
  const found = await AccountModel.findOne({ username }).lean<Account>();
  if (!found) {
    const created = await createAccount(buildAccount(username));
    return { username, api_key: created.apiKey, webhook_secret: created.webhookSecret };
  }
  await updateInboxUrls(found);
  return {
    username,
    api_key: await getDecryptedApiKey(found._id, null),
    webhook_secret: decrypt(found.webhookSecretSealed, getWebhookSecretContext(found._id)),
  };
}

/**
 * Creates the demo operator with a random password. A changed password is kept. If the folder of
 * the copy was emptied but not its database, the password is unknown and a new one is set.
 */
async function ensureOperator(): Promise<DemoOperator> {
  const known = process.env['ADMIN_PASSWORD'];
  const password = known ?? randomBytes(15).toString('base64url');
  const found = await OperatorModel.findOne({ username: operatorName }).lean<Operator>();
  if (!found) {
    await createOperator({ username: operatorName, role: 'admin', password }, bySystem);
  } else if (known === undefined) {
    await setOperatorPassword(operatorName, password, bySystem);
  } else if (!(await isCorrectPassword(found.passwordHash, password))) {
    return { username: operatorName };
  }
  return { username: operatorName, password };
}

function buildAccount(username: string): NewAccount {
  const urls = inboxUrl
    ? { webhookUrl: `${inboxUrl}/hooks/${username}`, callbackUrl: `${inboxUrl}/hooks/${username}/callback` }
    : {};
  return sellerNames.includes(username)
    ? {
        username,
        role: 'seller',
        ...urls,
        provider: { kind: 'simulator', baseUrl: null, username, secret: simulatorSecret },
      }
    : { username, role: 'buyer', ...urls };
}

/**
 * Updates URLs of a local inbox to its current port. Other URLs belong to the user and are kept.
 */
async function updateInboxUrls(account: Account): Promise<void> {
  if (!inboxUrl) {
    return;
  }
  const moved = (url: string | null) =>
    url?.replace(/^http:\/\/127\.0\.0\.1:\d+(?=\/hooks\/)/, inboxUrl) ?? null;
  const urls = { webhookUrl: moved(account.webhookUrl), callbackUrl: moved(account.callbackUrl) };
  await writeAndInvalidate([AccountModel], [account._id], (each) =>
    each.updateOne({ _id: account._id }, { $set: urls }),
  );
}

async function ensureCatalogue(): Promise<void> {
  const sellers = await AccountModel.find({ username: { $in: sellerNames } }).lean<Account[]>();
  const idOf = new Map(sellers.map((each) => [each.username, each._id]));
  const at = new Date();
  const products = readCatalogue();
  const offers = products.flatMap((each) =>
    Object.entries(each.offers).map(([username, price]) => ({
      code: each.code,
      sellerId: idOf.get(username) ?? '',
      price,
    })),
  );
  await writeAndInvalidate([ProductModel, OfferModel], null, async (productWriter, offerWriter) => {
    await productWriter.bulkWrite(
      products.map((each) => ({
        updateOne: {
          filter: { _id: each.code },
          update: {
            $setOnInsert: {
              sellerId: idOf.get(Object.keys(each.offers)[0] ?? '') ?? '',
              name: each.name,
              category: each.category,
              subcategory: each.subcategory,
              operator: each.operator ?? null,
              status: 'active',
              description: each.description ?? null,
              customerNumber: getCustomerNumberRule({ ...each, operator: each.operator ?? null }),
              cutOff: each.cutOff ?? null,
            },
          },
          upsert: true,
        },
      })),
      { timestamps: true },
    );
    await offerWriter.bulkWrite(
      offers.map(({ code, sellerId, price }) => ({
        updateOne: {
          filter: { _id: `${code}:${sellerId}` },
          update: { $setOnInsert: { productCode: code, sellerId, price, status: 'active', createdAt: at } },
          upsert: true,
        },
      })),
      { timestamps: true },
    );
  });
}

main().catch((error: unknown) => {
  console.error(error instanceof ServerTooOldError ? error.message : error);
  process.exit(1);
});
