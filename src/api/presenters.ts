/** Domain to wire: snake_case and the words of the interface end here. */
import { toShownStatus } from '../purchases/shown-status.js';
import { formatIsoTime } from '../shared/iso-time.js';
import type { Purchase } from '../purchases/purchase.model.js';

/** A purchase as docs/reference/api/buyer.md shows it, its time in UTC or a zone. */
export function presentBuyerTransaction(purchase: Purchase, zone?: string) {
  return {
    ref_id: purchase.refId,
    transaction_id: purchase._id,
    code: purchase.productCode,
    customer_number: purchase.customerNumber,
    product_name: purchase.productName,
    price: purchase.price,
    sn: purchase.serialNumber,
    status: toShownStatus(purchase.status),
    message: purchase.message,
    timestamp: formatIsoTime(purchase.createdAt, zone),
  };
}

/** A purchase as docs/reference/api/purchases.md#wallet-surface shows it, its times in UTC or a zone. */
export function presentWalletTransaction(purchase: Purchase, zone?: string) {
  return {
    id: purchase._id,
    code: purchase._id,
    ref_id: purchase.refId,
    product_code: purchase.productCode,
    destination: purchase.customerNumber,
    status: purchase.status,
    serial_number: purchase.serialNumber,
    price: purchase.price,
    message: purchase.message,
    created_at: formatIsoTime(purchase.createdAt, zone),
    updated_at: formatIsoTime(purchase.updatedAt, zone),
  };
}
