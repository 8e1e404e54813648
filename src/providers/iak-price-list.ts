import Joi from 'joi';
import type { PriceListReading, ProviderProduct } from './adapter.js';
import type { HttpCall } from './http.js';
import { decidingRupiah, informativeRupiah, informativeText, readText } from './informative-fields.js';
import { describeRow, streamRows } from './stream-rows.js';

interface PrepaidRow {
  product_code: string;
  /** The operator, such as `Alfamart Voucher`. */
  product_description?: unknown;
  product_nominal?: unknown;
  product_type?: unknown;
  product_price: number;
  status: string;
  currency?: string | null;
}

/** No product is free, so a row with a price of 0 has no known cost. */
const price = decidingRupiah.custom((value: number, helpers) =>
  value > 0 ? value : helpers.error('any.invalid'),
);

/** The list can be in another currency. A price in it is not a cost in rupiah. */
const prepaidSchema = Joi.object<PrepaidRow>({
  product_code: Joi.string().required(),
  product_description: Joi.any(),
  product_nominal: Joi.any(),
  product_type: Joi.any(),
  product_price: price.required(),
  status: Joi.string().required(),
  currency: Joi.valid('IDR', 'idr', '', null),
});

interface PostpaidRow {
  code: string;
  name?: unknown;
  type?: unknown;
  /** `1` is active, `4` is not. */
  status: string | null;
  /** Admin fee in rupiah. */
  fee: number;
  /** The part of the fee that stays with us, in rupiah. */
  komisi?: number | null;
}

const postpaidSchema = Joi.object<PostpaidRow>({
  code: Joi.string().required(),
  name: Joi.any(),
  type: Joi.any(),
  status: informativeText.required(),
  fee: decidingRupiah.required(),
  komisi: informativeRupiah,
});

/** Reads both price lists, prepaid and postpaid. */
export async function readIakPriceList(
  calls: { prepaid: HttpCall; postpaid: HttpCall },
  wants?: (code: string) => boolean,
): Promise<PriceListReading> {
  const prepaid = await streamRows({
    call: calls.prepaid,
    row: prepaidSchema,
    codeField: 'product_code',
    listField: 'pricelist',
    wants,
    read: toPrepaidProduct,
  });
  if (!prepaid.ok) {
    return prepaid;
  }
  const postpaid = await streamRows({
    call: calls.postpaid,
    row: postpaidSchema,
    codeField: 'code',
    listField: 'pasca',
    wants,
    read: toPostpaidProduct,
  });
  if (!postpaid.ok) {
    return postpaid;
  }
  const unreadable = [prepaid.unreadable, postpaid.unreadable];
  return {
    ok: true,
    value: [...prepaid.value, ...postpaid.value],
    unreadable: {
      rows: unreadable.reduce((sum, each) => sum + (each?.rows ?? 0), 0),
      codes: unreadable.flatMap((each) => each?.codes ?? []),
    },
  };
}

function toPrepaidProduct(row: PrepaidRow): ProviderProduct {
  const texts = [readText(row.product_description), readText(row.product_nominal)];
  return {
    code: row.product_code,
    ...describeRow({
      name: texts.filter((each) => each).join(' '),
      group: row.product_type,
      brand: row.product_description,
    }),
    cost: row.product_price,
    available: row.status === 'active',
    cutOff: null,
  };
}

/** The list does not have the amount of a bill, so the cost is the part of the fee that IAK keeps. */
function toPostpaidProduct(row: PostpaidRow): ProviderProduct {
  return {
    code: row.code,
    ...describeRow({ name: row.name, group: row.type, brand: undefined }),
    adminFee: row.fee,
    cost: Math.max(0, row.fee - (row.komisi ?? 0)),
    available: row.status === '1',
    cutOff: null,
  };
}
