import { PaymentModel, type Payment } from './payment.model.js';

/** Payments that were notified, newest first. */
export async function listPayments(filter: {
  status?: Payment['status'];
  limit: number;
}): Promise<Payment[]> {
  return PaymentModel.find(filter.status ? { status: filter.status } : {})
    .sort({ createdAt: -1 })
    .limit(filter.limit)
    .readConcern('majority')
    .lean<Payment[]>();
}
