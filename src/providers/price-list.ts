import { bestPrices } from './choose-route.js';
import { ProductModel, type Product, type ProductStatus } from '../products/product.model.js';

export interface PricedProduct {
  product: Product;
  /** Rupiah: the cheapest active offer that can serve now, or the cheapest there is during maintenance. */
  price: number;
  status: ProductStatus;
}

export interface PriceListFilter {
  /** `prabayar`, `pascabayar`, or a subcategory. */
  category?: string | undefined;
  subcategory?: string | undefined;
  operator?: string | undefined;
  status?: string | undefined;
}

/** The catalogue is a few thousand products; more than this is a mistake that must not fill the memory. */
const productsMax = 20_000;

/** Products with the best price now, active and in maintenance, by code. */
export async function priceList(filter: PriceListFilter): Promise<PricedProduct[]> {
  const products = await ProductModel.find({
    status: { $ne: 'inactive' },
    ...(filter.category !== undefined && categoryCondition(filter.category)),
    ...(filter.subcategory !== undefined && { subcategory: filter.subcategory }),
    ...(filter.operator !== undefined && { operator: filter.operator }),
  })
    .sort({ _id: 1 })
    .limit(productsMax)
    .lean<Product[]>();
  const prices = await bestPrices(products);
  return products.flatMap((product) => {
    const best = prices.get(product._id);
    if (!best) {
      return [];
    }
    const priced = { product, price: best.price, status: best.status };
    return filter.status === undefined || filter.status === best.status ? [priced] : [];
  });
}

function categoryCondition(category: string): Pick<Product, 'category'> | Pick<Product, 'subcategory'> {
  return category === 'prabayar' || category === 'pascabayar' ? { category } : { subcategory: category };
}
