import { cached } from '../redis/cached.js';
import { ProductModel, type Product } from './product.model.js';

/** A product in whatever status, from this process's memory; null if there is none. */
export const findProduct = cached({
  from: [ProductModel],
  load: (code: string) => ProductModel.findById(code).lean<Product>(),
  isAbout: ({ _id }, code) => _id === code,
});
