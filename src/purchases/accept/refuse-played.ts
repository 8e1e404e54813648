import { findScenario } from '../../../config/sandbox-scenarios.js';
import { isSandbox } from '../../accounts/require-sandbox.js';
import type { Account } from '../../accounts/account.model.js';
import type { Product } from '../../products/product.model.js';
import { buildNoRouteError } from '../../providers/route-or-refuse.js';

/**
 * A number of the sandbox for which nobody is there: its caller, and nobody else, meets what everybody meets while every seller of
 * the product is away (decision 033). Numbers of live accounts say nothing.
 * @throws MaintenanceError (503/03, `product_unavailable`)
 */
export function refuseUnservedScenario(account: Account, product: Product, customerNumber: string): void {
  if (isSandbox(account) && findScenario(customerNumber)?.isNotServed === true) {
    throw buildNoRouteError(product, { reason: 'maintenance' });
  }
}
