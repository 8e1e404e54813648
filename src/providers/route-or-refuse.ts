import { env } from '../../config/env.js';
import type { Product } from '../products/product.model.js';
import { countWaiting } from './backlog.js';
import { chooseRoute, type NoRoute, type Route } from './choose-route.js';
import { MaintenanceError, NotFoundError, type AppError } from '../shared/errors.js';
import { say } from '../shared/say.js';

/**
 * The offer that a purchase would go to now; its price is what the buyer pays.
 * @throws NotFoundError (404/02) if nobody sells it, MaintenanceError (503/03) if nobody can serve it just now.
 */
export async function requireRoute(product: Product): Promise<Route> {
  const choice = await chooseRoute({ productCode: product._id, turnAt: null });
  if (!('reason' in choice)) {
    countWaiting(choice.sellerId);
    return choice;
  }
  throw buildNoRouteError(product, choice);
}

/** Why nobody serves it, as the client hears it. */
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
        // The line moves on: by then it is as short as it may be.
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

/** Not in the first moment: the others come then. */
const outageMinS = 30;

function toSeconds(ms = 0): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
