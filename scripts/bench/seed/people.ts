/** Accounts, keys, products and offers, written in bulk in the service's format. */
import { AccountModel } from '../../../src/accounts/account.model.js';
import { ApiKeyModel } from '../../../src/accounts/api-key.model.js';
import { generateApiKey } from '../../../src/accounts/api-key.js';
import {
  buildApiKeyDocument,
  createAccount,
  generateWebhookSecret,
} from '../../../src/accounts/create-account.js';
import { getWebhookSecretContext } from '../../../src/accounts/secret-contexts.js';
import { toInt64 } from '../../../src/database/typed-collection.js';
import { OfferModel } from '../../../src/products/offer.model.js';
import { ProductModel, type Product } from '../../../src/products/product.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { encrypt } from '../../../src/shared/encryption.js';
import { newId } from '../../../src/shared/ids.js';

export interface Seller {
  id: string;
  username: string;
}

export interface Customer {
  id: string;
  username: string;
  webhookUrl: string;
}

export interface Goods {
  product: Product;
  /** Prices are in rupiah. The first seller sells most. */
  offers: { sellerId: string; price: number }[];
}

export interface People {
  /** Ordered by volume, largest first. */
  buyers: Customer[];
  /** Ordered by volume, largest first. */
  sellers: Seller[];
  goods: Goods[];
}

const batchSize = 2_000;
const sellersPerProduct = 3;
const subcategories = ['pulsa', 'data', 'pln', 'games', 'e-money'] as const;
const operators = ['Telkomsel', 'Indosat', 'XL', 'Tri', 'Smartfren'] as const;

export async function seedPeople(
  wanted: { buyers: number; sellers: number; products: number },
  since: Date,
): Promise<People> {
  const sellers: Seller[] = [];
  while (sellers.length < wanted.sellers) {
    const username = `seller-${String(sellers.length + 1).padStart(2, '0')}`;
    const { account } = await createAccount({
      username,
      role: 'seller',
      provider: { kind: 'simulator', baseUrl: null, username, secret: 'simulator-secret' },
    });
    sellers.push({ id: account._id, username });
  }
  const buyers: Customer[] = [];
  const { account: model } = await createAccount({ username: 'model', role: 'buyer' });
  while (buyers.length < wanted.buyers) {
    buyers.push(...(await addBuyers(model, { from: buyers.length, to: wanted.buyers }, since)));
  }
  return { buyers, sellers, goods: await addGoods(wanted.products, sellers, since) };
}

async function addBuyers(
  model: object,
  { from, to }: { from: number; to: number },
  since: Date,
): Promise<Customer[]> {
  const batch = Array.from({ length: Math.min(batchSize, to - from) }, (_, offset) => {
    const username = `buyer-${String(from + offset + 1).padStart(6, '0')}`;
    return { id: newId(), username, webhookUrl: `https://hooks.example.com/${username}` };
  });
  await writeAndInvalidate([AccountModel, ApiKeyModel], null, async (accounts, apiKeys) => {
    await accounts.collection.insertMany(
      batch.map(({ id, username, webhookUrl }) => ({
        ...model,
        _id: id,
        username,
        webhookUrl,
        createdAt: since,
        updatedAt: since,
        webhookSecretSealed: encrypt(generateWebhookSecret(), getWebhookSecretContext(id)),
      })) as never[],
    );
    await apiKeys.collection.insertMany(
      batch.map(({ id }) => buildApiKeyDocument(id, generateApiKey('buyer', 'test'))) as never[],
    );
  });
  return batch;
}

async function addGoods(count: number, sellers: readonly Seller[], since: Date): Promise<Goods[]> {
  const goods = Array.from({ length: count }, (_, index) => goodsOf(index, sellers, since));
  const times = { createdAt: since, updatedAt: since };
  await writeAndInvalidate([ProductModel, OfferModel], null, async (products, offers) => {
    await products.collection.insertMany(goods.map(({ product }) => product) as never[]);
    await offers.collection.insertMany(
      goods.flatMap(({ product: { _id: productCode }, offers: asked }) =>
        asked.map(({ sellerId, price }) => ({
          _id: `${productCode}:${sellerId}`,
          productCode,
          sellerId,
          price: toInt64(price),
          cost: toInt64(price - 150),
          status: 'active',
          ...times,
        })),
      ) as never[],
    );
  });
  return goods;
}

function goodsOf(index: number, sellers: readonly Seller[], since: Date): Goods {
  const subcategory = subcategories[index % subcategories.length] ?? 'pulsa';
  const operator = operators[index % operators.length] ?? null;
  const price = 1_000 * (5 + (index % 95)) + 450;
  const others = sellers.length - 1;
  const places = [
    0,
    ...Array.from({ length: sellersPerProduct - 1 }, (_, n) => 1 + ((index * (n + 1) + n) % others)),
  ];
  const asked = [...new Set(places)].flatMap((place) => sellers[place] ?? []);
  return {
    offers: asked.map(({ id }, rank) => ({ sellerId: id, price: price + rank * 25 })),
    product: {
      _id: `P${String(index + 1).padStart(4, '0')}`,
      sellerId: asked[0]?.id ?? '',
      name: `${operator ?? ''} ${subcategory} ${price}`,
      category: 'prabayar',
      subcategory,
      operator,
      status: 'active',
      description: null,
      customerNumber: { kind: 'phone', prefixes: ['0812'] },
      cutOff: null,
      createdAt: since,
      updatedAt: since,
    },
  };
}
