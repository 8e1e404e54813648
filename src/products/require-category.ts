import type { Product } from './product.model.js';
import { ValidationError } from '../shared/errors.js';

/** @throws ValidationError (400/01) that names the right call. */
export function requirePrepaid(product: Product): void {
  if (product.category === 'pascabayar') {
    refuse(`${product._id} is a postpaid product: use POST /api/buyer/inquiry and POST /api/buyer/payment`);
  }
}

/** @throws ValidationError (400/01) that names the right call. */
export function requirePostpaid(product: Product): void {
  if (product.category === 'prabayar') {
    refuse(`${product._id} is a prepaid product: use POST /api/buyer/transaction`);
  }
}

function refuse(message: string): never {
  throw new ValidationError([{ field: 'code', message }]);
}
