import { getQuickCollection } from '../database/mongo.js';
import { createCache } from '../redis/cached.js';
import { ProductModel } from './product.model.js';

/** A product in whatever status, from this process's memory; null if there is none. */
export const findProduct = createCache({
  from: [ProductModel],
  load: (code: string) => getQuickCollection(ProductModel).findOne({ _id: code }),
  isAbout: ({ _id }, code) => _id === code,
});
