import type { ProviderOutcome } from '../../providers/adapter.js';
import { LateError } from '../../providers/http.js';
import { logger } from '../../shared/logger.js';
import { getLogFields } from '../names-of.js';
import type { Order } from '../order.model.js';
import type { Purchase } from '../purchase.model.js';

/** What the provider answered; an error, which is in the log, where nothing was sent as its time was over or nobody knew the time. */
export async function catchLateError(
  purchase: Purchase,
  order: Order,
  asked: Promise<ProviderOutcome>,
): Promise<ProviderOutcome | LateError> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof LateError)) {
      throw error;
    }
    const { n, sellerId } = order;
    logger.warn('a provider was not asked in time', {
      ...getLogFields(purchase),
      order: n,
      sellerId,
      why: error.message,
    });
    return error;
  }
}
