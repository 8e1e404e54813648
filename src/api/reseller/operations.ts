import { createResellerRequest } from './create-request.js';
import { getResellerBalance } from './get-balance.js';
import { getResellerPriceList } from './get-price-list.js';
import type { AnyResellerOperation } from './reseller-operation.js';

/** docs/interface.md#reseller-surface */
export const resellerOperations: AnyResellerOperation[] = [
  createResellerRequest,
  getResellerPriceList,
  getResellerBalance,
];
