import Joi from 'joi';
import type { PriceListReading, ProviderProduct } from './adapter.js';
import { parseMinuteOfDay } from '../products/cut-off.js';
import type { HttpCall } from './http.js';
import { streamRows } from './stream-rows.js';

interface Row {
  buyer_sku_code: string;
  /** Rupiah. Prepaid only. */
  price?: number;
  /** Rupiah. Postpaid only. */
  admin?: number;
  buyer_product_status: boolean;
  seller_product_status: boolean;
  unlimited_stock?: boolean;
  stock?: number;
  start_cut_off?: string | null;
  end_cut_off?: string | null;
}

const rupiahSchema = Joi.number().integer().min(0);
const rowSchema = Joi.object<Row>({
  buyer_sku_code: Joi.string().required(),
  price: rupiahSchema,
  admin: rupiahSchema,
  buyer_product_status: Joi.boolean().required(),
  seller_product_status: Joi.boolean().required(),
  unlimited_stock: Joi.boolean(),
  stock: Joi.number().integer(),
  start_cut_off: Joi.string().allow('', null),
  end_cut_off: Joi.string().allow('', null),
});

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
  const inStock = row.unlimited_stock !== false || (row.stock ?? 0) > 0;
  return {
    code: row.buyer_sku_code,
    // The list has only the admin fee of a bill, not its amount.
    cost: row.price ?? row.admin ?? 0,
    available: row.buyer_product_status && row.seller_product_status && inStock,
    cutOff: isWindow ? { start: formatMinuteOfDay(startMinute), end: formatMinuteOfDay(endMinute) } : null,
  };
}

function formatMinuteOfDay(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}
