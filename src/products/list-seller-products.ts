import { limits } from '../../config/limits.js';
import { cachePieces } from './cached-pieces.js';
import { estimateListedBytes, listedFields, type ListedProduct } from './listed-product.js';
import { OfferModel, type Offer } from './offer.model.js';
import { ProductModel, type Product, type ProductStatus } from './product.model.js';

/** A product as one of its sellers sees it: with the seller's own price. */
export interface SellerProduct {
  product: ListedProduct;
  /** Rupiah. */
  price: number;
  /** Of the product for its owner, of the offer for others. */
  status: ProductStatus;
}

const sellerOffers = cachePieces({
  read: readOffers,
  codeOf: ({ code }) => code,
  bytesOf: ({ shown }) => (shown ? estimateListedBytes(shown.product) : 0) + 100,
});

/** Everything that a seller sells: its own products, inactive ones too, and those it made an offer for. */
export async function listSellerProducts(sellerId: string): Promise<SellerProduct[]> {
  const offers = await sellerOffers(sellerId);
  return offers.slice(0, limits.productsPerSellerMax).flatMap(({ shown }) => shown ?? []);
}

async function readOffers(
  sellerId: string,
  after: string,
  size: number,
): Promise<{ code: string; shown: SellerProduct | null }[]> {
  const offers = await OfferModel.find({ sellerId, productCode: { $gt: after } })
    .sort({ productCode: 1 })
    .limit(size)
    .lean<Offer[]>();
  const codes = offers.map((each) => each.productCode);
  const products = await ProductModel.find({ _id: { $in: codes } }, { ...listedFields, sellerId: 1 }).lean<
    (ListedProduct & Pick<Product, 'sellerId'>)[]
  >();
  const productOf = new Map(products.map((each) => [each._id, each]));
  return offers.map((offer) => {
    const product = productOf.get(offer.productCode);
    const { price } = offer;
    const status = product?.sellerId === sellerId ? product.status : offer.status;
    return { code: offer.productCode, shown: product ? { product, price, status } : null };
  });
}
