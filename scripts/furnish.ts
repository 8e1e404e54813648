/**
 * `node dist/scripts/furnish.js`: imports the price lists of the sandbox's two suppliers into a
 * database that has only demo data, once. A killed run is continued by the next one. Later runs
 * change nothing, so prices that a user has set stay.
 */
import { readCatalogue } from '../config/catalogue.js';
import { env } from '../config/env.js';
import { isGuarded } from '../config/refused-settings.js';
import '../src/all-models.js';
import { AccountModel, type Account } from '../src/accounts/account.model.js';
import { createAccount } from '../src/accounts/create-account.js';
import { bySystem } from '../src/audit/record-audit.js';
import { connectMongo, disconnectMongo } from '../src/database/mongo.js';
import { ProductModel } from '../src/products/product.model.js';
import { finishImport } from '../src/providers/imports/apply-import.js';
import { PriceImportModel, type PriceImport } from '../src/providers/imports/price-import.model.js';
import { applyCatalogue } from '../src/providers/supplier-catalogue/apply-catalogue.js';
import { planCatalogue, type CatalogueRequest } from '../src/providers/supplier-catalogue/plan-catalogue.js';
import { connectRedis, disconnectRedis } from '../src/redis/connection.js';
import { getSupplierItems, supplierNames, type SupplierName } from './simulator/suppliers.js';

const simulatorSecret = process.env['SIMULATOR_SECRET'] ?? 'simulator-secret';
const demoNames = ['buyer', 'buyer2', 'suspended', 'seller', 'seller2', 'seller3'];
/** Covers the commission, so that no sale loses money before the supplier raises its costs. */
const margin = { percent: 3, amount: 300, roundTo: 25 };

async function main(): Promise<void> {
  if (isGuarded(env)) {
    throw new Error('The demo data is not for production. Import products with: topup provider import');
  }
  await Promise.all([connectMongo(), connectRedis()]);
  if (await hasForeignData()) {
    console.log('The database has other data, so the products of the sandbox are not added.');
  } else {
    let isChanged = false;
    for (const name of supplierNames) {
      isChanged = (await furnishSupplier(name)) || isChanged;
    }
    if (isChanged) {
      // scripts/start/run-service.ts shows this line to the user.
      console.log(`Products of the suppliers ${supplierNames.join(' and ')} are imported.`);
    }
  }
  await Promise.all([disconnectRedis(), disconnectMongo()]);
}

/** True if an account or a product exists that the demo does not create. */
async function hasForeignData(): Promise<boolean> {
  const codes = supplierNames.flatMap((name) =>
    getSupplierItems(name).flatMap(({ code, sku }) => [code, sku]),
  );
  const own = [...readCatalogue().map(({ code }) => code), ...codes];
  const [account, product] = await Promise.all([
    AccountModel.findOne({ username: { $nin: [...demoNames, ...supplierNames] } }, { _id: 1 }).lean(),
    ProductModel.findOne({ _id: { $nin: own } }, { _id: 1 }).lean(),
  ]);
  return account !== null || product !== null;
}

/** Returns false if an earlier run has imported the products. */
async function furnishSupplier(name: SupplierName): Promise<boolean> {
  const seller =
    (await AccountModel.findOne({ username: name }).lean<Account>()) ??
    (
      await createAccount({
        username: name,
        role: 'seller',
        provider: { kind: 'simulator', baseUrl: null, username: name, secret: simulatorSecret },
      })
    ).account;
  // The demo database has few imports, so this reads them without an index.
  const imports = await PriceImportModel.find({ file: `price list of ${name}` })
    .limit(100)
    .lean<PriceImport[]>();
  if (imports.some(({ status }) => status !== 'applying')) {
    return false;
  }
  const request = await buildRequest(name);
  const { creates, changes } = await planCatalogue(seller, request);
  if (creates.length + changes.changes.length > 0) {
    const by = { ...bySystem, reason: 'products of the sandbox' };
    await applyCatalogue(seller, request, by, (written) => console.log(`${name}: ${written} products`));
  }
  // A killed run may have left imports that are written in part or completely.
  for (const { _id } of imports) {
    await finishImport(_id);
  }
  return true;
}

/** Maps the supplier's codes to products that exist, because equal codes are not mapped by themselves. */
async function buildRequest(name: SupplierName): Promise<CatalogueRequest> {
  const items = getSupplierItems(name);
  const found = await ProductModel.find({ _id: { $in: items.map(({ code }) => code) } }, { _id: 1 }).lean<
    { _id: string }[]
  >();
  const existing = new Set(found.map(({ _id }) => _id));
  const mapped = new Map(
    items.filter(({ code }) => existing.has(code)).map(({ sku, code }) => [sku, code] as const),
  );
  return { margin, mapped };
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
