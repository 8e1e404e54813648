import Joi from 'joi';
import type { PriceListReading, ProviderProduct } from './adapter.js';
import { parseMinuteOfDay } from '../products/cut-off.js';
import type { HttpCall } from './http.js';
import {
  decidingRupiah,
  informativeBalance,
  informativeRupiah,
  informativeText,
} from './informative-fields.js';
import { describeRow, streamRows } from './stream-rows.js';

interface Row {
  buyer_sku_code: string;
  product_name?: unknown;
  category?: unknown;
  brand?: unknown;
  /** Rupiah. Prepaid only. */
  price?: number;
  /** Admin fee of a bill in rupiah. Postpaid only. */
  admin?: number;
  /** The part of the admin fee that stays with us, in rupiah. */
  commission?: number | null;
  buyer_product_status: boolean;
  seller_product_status: boolean;
  unlimited_stock?: unknown;
  stock?: number | null;
  start_cut_off?: string | null;
  end_cut_off?: string | null;
}

/** A row without a readable price has no known cost, so it is unreadable. */
const rowSchema = Joi.object<Row>({
  buyer_sku_code: Joi.string().required(),
  product_name: Joi.any(),
  category: Joi.any(),
  brand: Joi.any(),
  price: decidingRupiah,
  admin: decidingRupiah,
  commission: informativeRupiah,
  buyer_product_status: Joi.boolean().required(),
  seller_product_status: Joi.boolean().required(),
  unlimited_stock: Joi.any(),
  stock: informativeBalance,
  start_cut_off: informativeText,
  end_cut_off: informativeText,
}).or('price', 'admin');

/**
 * Reads both price lists, prepaid and postpaid. Digiflazz limits how often they may be read (see
 * refresh-providers.ts).
 */
export async function readPriceList(
  callFor: (cmd: 'prepaid' | 'pasca') => HttpCall,
  wants?: (code: string) => boolean,
): Promise<PriceListReading> {
  const value: ProviderProduct[] = [];
  const unreadable = { rows: 0, codes: [] as string[] };
  for (const cmd of ['prepaid', 'pasca'] as const) {
    const reading = await streamRows({
      call: callFor(cmd),
      row: rowSchema,
      codeField: 'buyer_sku_code',
      wants,
      read: toProduct,
    });
    if (!reading.ok) {
      return reading;
    }
    value.push(...reading.value);
    unreadable.rows += reading.unreadable?.rows ?? 0;
    unreadable.codes.push(...(reading.unreadable?.codes ?? []));
  }
  return { ok: true, value, unreadable };
}

function toProduct(row: Row): ProviderProduct {
  const { start_cut_off: start, end_cut_off: end } = row;
  const startMinute = parseMinuteOfDay(start ?? '');
  const endMinute = parseMinuteOfDay(end ?? '');
  const isWindow = startMinute !== null && endMinute !== null && startMinute !== endMinute;
  const isLimited = ['false', '0'].includes(String(row.unlimited_stock));
  const inStock = !isLimited || (row.stock ?? 0) > 0;
  return {
    code: row.buyer_sku_code,
    ...describeRow({ name: row.product_name, group: row.category, brand: row.brand }),
    ...(row.price === undefined && { adminFee: row.admin ?? 0 }),
    cost: row.price ?? getFeeCost(row),
    available: row.buyer_product_status && row.seller_product_status && inStock,
    cutOff: isWindow ? { start: formatMinuteOfDay(startMinute), end: formatMinuteOfDay(endMinute) } : null,
  };
}

/**
 * Returns the part of a bill's admin fee that Digiflazz keeps. The list does not have the amount of
 * the bill.
 */
function getFeeCost({ admin = 0, commission }: Row): number {
  return Math.max(0, admin - (commission ?? 0));
}

function formatMinuteOfDay(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}
