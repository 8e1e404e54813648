import { createResellerRequest } from './create-request.js';
import { getResellerBalance } from './get-balance.js';
import { getResellerPriceList } from './get-price-list.js';
import type { AnyResellerOperation } from './reseller-operation.js';

/** docs/reference/api/reseller.md */
export const resellerOperations: AnyResellerOperation[] = [
  createResellerRequest,
  getResellerPriceList,
  getResellerBalance,
];
