import { nowMs } from '../shared/clock.js';
import { ReceiverModel, type Receiver } from './receiver.model.js';

/**
 * Receivers to which nothing is sent just now: disabled (index disabled_newest), or left alone by the breaker because
 * they do not answer (left_alone). The last disabled first; at most `limit` of each.
 */
export async function findTroubledReceivers(limit: number): Promise<Receiver[]> {
  const [disabled, leftAlone] = await Promise.all([
    ReceiverModel.find({ disabledAt: { $type: 'date' } })
      .sort({ disabledAt: -1 })
      .limit(limit)
      .lean<Receiver[]>(),
    ReceiverModel.find({ openUntil: { $type: 'date', $gt: new Date(nowMs()) } })
      .limit(limit)
      .lean<Receiver[]>(),
  ]);
  return [...disabled, ...leftAlone.filter(({ disabledAt }) => disabledAt === null)];
}
