import { newId } from '../../../src/shared/ids.js';
import { OfferModel } from '../../../src/products/offer.model.js';
import { ProductModel, type Product } from '../../../src/products/product.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import type { TestApi } from './api.js';

/** Creates a product on sale with its own seller, product code, subcategory and operator. */
export async function newProduct(
  api: TestApi,
  over: Partial<Product> & { price?: number } = {},
): Promise<Product & { price: number }> {
  const { account: seller } = await api.newAccount('seller');
  const { price = 10_500, ...fields } = over;
  const id = `P${newId().slice(12)}`;
  const product: Product = {
    _id: id,
    sellerId: seller._id,
    name: `Product ${id}`,
    category: 'prabayar',
    subcategory: `sub-${id}`,
    operator: `op-${id}`,
    status: 'active',
    description: null,
    customerNumber: { kind: 'phone', prefixes: ['0812'] },
    cutOff: null,
    createdAt: new Date(),
    updatedAt: new Date(),
    ...fields,
  };
  await writeAndInvalidate([ProductModel], null, (rows) => rows.create([product]));
  await writeAndInvalidate([OfferModel], null, (rows) =>
    rows.create([
      {
        _id: `${product._id}:${seller._id}`,
        productCode: product._id,
        sellerId: seller._id,
        price,
        status: 'active',
      },
    ]),
  );
  return { ...product, price };
}
