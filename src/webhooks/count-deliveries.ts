import { now } from '../shared/clock.js';
import { deliveries } from './delivery.model.js';
import { receivers } from './receiver.model.js';

/** Deliveries that are to be sent by now, whoever they are for. @param limit More are not counted. */
export async function countDueDeliveries(limit: number): Promise<number> {
  return deliveries.countDocuments(
    { state: 'due', nextAttemptAt: { $lte: now() } },
    { limit, hint: 'receiver_due' },
  );
}

/** Receivers to which nothing is sent: disabled, or left alone by the breaker just now. @param limit More are not counted. */
export async function countBlockedReceivers(limit: number): Promise<{ disabled: number; leftAlone: number }> {
  const [disabled, leftAlone] = await Promise.all([
    receivers.countDocuments({ disabledAt: { $type: 'date' } }, { limit }),
    receivers.countDocuments({ openUntil: { $type: 'date', $gt: now() }, disabledAt: null }, { limit }),
  ]);
  return { disabled, leftAlone };
}
