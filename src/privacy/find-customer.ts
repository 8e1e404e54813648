import type { Collection, Filter } from 'mongodb';
import { quotes, type Quote } from '../bills/quote.model.js';
import { purchases, type Purchase } from '../purchases/purchase.model.js';

const idsPerPage = 10_000;

export interface CustomerPage {
  purchases: Purchase[];
  quotes: Quote[];
}

/** A phone number with its country code or its leading zero. */
const phonePattern = /^(?:\+?62|0)([2-9]\d{6,12})$/;

/**
 * Finds purchases and inquiries of a customer number, a page at a time, oldest first. It scans all
 * ids, which takes minutes for many millions. An index would slow down every purchase and serve
 * only a few requests a month.
 * @param number The customer number, as a person writes it.
 */
export async function* findCustomer(number: string): AsyncGenerator<CustomerPage> {
  const numbers = buildNumberForms(number);
  for await (const page of readPages<Purchase>(purchases, numbers)) {
    yield { purchases: page, quotes: [] };
  }
  for await (const page of readPages<Quote>(quotes, numbers)) {
    yield { purchases: [], quotes: page };
  }
}

/**
 * Returns the forms under which a phone number may be stored. Phone products store `08…`; other
 * products store the number as received, for example `628…`. A number without a leading zero or
 * country code is searched unchanged.
 */
function buildNumberForms(number: string): string[] {
  const national = phonePattern.exec(number.replace(/[\s().-]/g, ''))?.[1];
  const forms = national === undefined ? [] : [`0${national}`, `62${national}`, `+62${national}`];
  return [...new Set([number, ...forms])];
}

async function* readPages<T extends { _id: string; customerNumber: string }>(
  collection: Collection<T>,
  numbers: string[],
): AsyncGenerator<T[]> {
  let after: string | null = '';
  while (after !== null) {
    const range: { $gt: string; $lte?: string } = { $gt: after };
    const [last]: { _id: string }[] = await collection
      .find({ _id: { ...range } } as Filter<T>)
      .project<{ _id: string }>({ _id: 1 })
      .sort({ _id: 1 })
      .skip(idsPerPage - 1)
      .limit(1)
      .toArray();
    if (last) {
      range.$lte = last._id;
    }
    const page = await collection
      .find({ _id: range, customerNumber: { $in: numbers } } as unknown as Filter<T>)
      .toArray();
    if (page.length > 0) {
      yield page as unknown as T[];
    }
    after = last?._id ?? null;
  }
}
