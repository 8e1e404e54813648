import { OfferModel, type Offer } from './offer.model.js';
import { ProductModel, type Product, type ProductStatus } from './product.model.js';

/** A product as one of its sellers sees it: with the seller's own price. */
export interface SellerProduct {
  product: Product;
  /** Rupiah. */
  price: number;
  /** Of the product for its owner, of the offer for others. */
  status: ProductStatus;
}

const productsMax = 20_000;

/** Everything that a seller sells: its own products, inactive ones too, and those it made an offer for. */
export async function listSellerProducts(sellerId: string): Promise<SellerProduct[]> {
  const offers = await OfferModel.find({ sellerId })
    .sort({ productCode: 1 })
    .limit(productsMax)
    .lean<Offer[]>();
  const products = await ProductModel.find({ _id: { $in: offers.map((each) => each.productCode) } }).lean<
    Product[]
  >();
  const productOf = new Map(products.map((each) => [each._id, each]));
  return offers.flatMap((offer) => {
    const product = productOf.get(offer.productCode);
    return product ? [asSoldBy(sellerId, product, offer)] : [];
  });
}

function asSoldBy(sellerId: string, product: Product, offer: Offer): SellerProduct {
  return {
    product,
    price: offer.price,
    status: product.sellerId === sellerId ? product.status : offer.status,
  };
}
