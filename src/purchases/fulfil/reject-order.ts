import { sampleEnd } from '../../providers/provider-samples.js';
import { now } from '../../shared/clock.js';
import { getOrderKey, OrderModel, type Order } from '../order.model.js';
import { buildNotMarkedCondition } from './close-order.js';
import { tooLateCode } from './orders.js';

/**
 * The provider certainly did not and will not execute it: the order is closed, the debit stays for the next one.
 * @param expect What must still hold.
 * @returns false where that does not hold, or others have asked about it meanwhile: it is theirs.
 */
export async function rejectOrder(
  order: Order,
  reason: { code: string; message: string },
  expect: { acknowledged?: null } = {},
): Promise<boolean> {
  const { matchedCount } = await OrderModel.updateOne(
    {
      ...getOrderKey(order),
      open: true,
      leaseToken: order.leaseToken,
      ...buildNotMarkedCondition(order),
      ...expect,
    },
    { $set: { status: 'REJECTED', open: false, ...reason, updatedAt: now() } },
  );
  if (matchedCount > 0 && reason.code !== tooLateCode) {
    sampleEnd(order.sellerId, 'failed');
  }
  return matchedCount > 0;
}
