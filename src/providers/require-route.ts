import { env } from '../../config/env.js';
import type { Product } from '../products/product.model.js';
import { countWaiting } from './backlog.js';
import { chooseRoute, type NoRoute, type Route } from './choose-route.js';
import { MaintenanceError, NotFoundError, type AppError } from '../shared/errors.js';
import { say } from '../shared/say.js';

/**
 * Returns the offer to which a purchase would be routed now. Its price excludes the markup.
 * @throws NotFoundError (404/02) if no seller offers the product.
 * @throws MaintenanceError (503/03) if no seller can serve it now.
 */
export async function requireRoute(product: Product): Promise<Route> {
  const choice = await chooseRoute({ productCode: product._id, turnAt: null });
  if (!('reason' in choice)) {
    countWaiting(choice.sellerId);
    return choice;
  }
  throw buildNoRouteError(product, choice);
}

/** Builds the error for the client if no route is found. */
export function buildNoRouteError(product: Product, choice: NoRoute): AppError {
  switch (choice.reason) {
    case 'no-offer':
      return new NotFoundError(say('productNotSold', { code: product._id }), { reason: 'product_not_found' });
    case 'cut-off':
      return new MaintenanceError(
        say('productCutOff', {
          code: product._id,
          start: product.cutOff?.start ?? '',
          end: product.cutOff?.end ?? '',
          zone: env.BUSINESS_TIMEZONE,
        }),
        60,
        'product_cut_off',
      );
    case 'backlog':
      return new MaintenanceError(
        say('productBusy', { code: product._id }),
        // By then, the backlog has shrunk and is within the limit.
        toSeconds(choice.retryAfterMs),
        'product_busy',
      );
    case 'maintenance':
    case 'circuits-open':
      return new MaintenanceError(
        say('productInMaintenance', { code: product._id }),
        Math.max(outageMinS, toSeconds(choice.retryAfterMs)),
      );
  }
}

/** Minimum Retry-After in seconds during an outage, so that clients do not retry at once. */
const outageMinS = 30;

function toSeconds(ms = 0): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
