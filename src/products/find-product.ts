import { quick } from '../database/mongo.js';
import { cached } from '../redis/cached.js';
import { ProductModel } from './product.model.js';

/** A product in whatever status, from this process's memory; null if there is none. */
export const findProduct = cached({
  from: [ProductModel],
  load: (code: string) => quick(ProductModel).findOne({ _id: code }),
  isAbout: ({ _id }, code) => _id === code,
});
