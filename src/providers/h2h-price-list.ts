import Joi from 'joi';
import type { PriceListReading } from './adapter.js';
import type { HttpCall } from './http.js';
import { decidingRupiah } from './informative-fields.js';
import { describeRow, streamRows } from './stream-rows.js';

interface Row {
  code: string;
  name?: unknown;
  category?: unknown;
  operator?: unknown;
  /** Rupiah. */
  price: number;
  status: string;
}

const rowSchema = Joi.object<Row>({
  code: Joi.string().required(),
  name: Joi.any(),
  category: Joi.any(),
  operator: Joi.any(),
  price: decidingRupiah.required(),
  status: Joi.string().required(),
});

/** Reads the price list of the reseller-software protocol. */
export function readPriceList(call: HttpCall, wants?: (code: string) => boolean): Promise<PriceListReading> {
  return streamRows({
    call,
    row: rowSchema,
    codeField: 'code',
    isGood: (status) => status === '00',
    wants,
    read: ({ code, name, category, operator, price, status }) => ({
      code,
      ...describeRow({ name, group: category, brand: operator }),
      cost: price,
      available: status === 'active',
      cutOff: null,
    }),
  });
}
