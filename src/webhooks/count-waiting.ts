import { deliveries } from './delivery.model.js';

/** So far they are counted. */
export const waitingCountedMax = 10_000;

/** Deliveries that are due now or later, whoever they are for: along receiver_due, up to `waitingCountedMax`. */
export function countWaitingDeliveries(): Promise<number> {
  return deliveries.countDocuments({ state: 'due', receiverId: { $gt: '' } }, { limit: waitingCountedMax });
}
