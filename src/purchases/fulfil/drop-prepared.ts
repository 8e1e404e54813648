import { now } from '../../shared/clock.js';
import { keyOfOrder, OrderModel, type Order } from '../order.model.js';

/** An order that 0.1.0 had prepared and not sent: another one takes its place. */
export async function dropPrepared(order: Order): Promise<void> {
  await OrderModel.updateOne(
    { ...keyOfOrder(order), status: 'PREPARED' },
    { $set: { status: 'REJECTED', open: false, code: 'not-sent', updatedAt: now() } },
  );
}
