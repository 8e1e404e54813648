import Joi from 'joi';
import type { BillDetails, BillSheet, BillOutcome } from './adapter.js';
import { readBillPeriods } from './bill-periods.js';
import { toSellableBill } from './check-bill.js';
import { decidingRupiah, informativeText, readRupiah, readText } from './informative-fields.js';
import { cleanMessage } from './json-response.js';

/** The fields that only a bill has. Only the amounts must be readable. */
export interface BillFields {
  customer_name?: string | null;
  /** Rupiah that Digiflazz takes from our balance. */
  price: number;
  admin: number;
  /** The total that Digiflazz suggests for the customer. */
  selling_price: number;
  periode?: string | null;
  desc?: unknown;
}

export const billFields = {
  customer_name: informativeText,
  price: decidingRupiah.required(),
  admin: decidingRupiah.required(),
  selling_price: decidingRupiah.required(),
  periode: informativeText,
  desc: Joi.any(),
};

/** More sheets than this are not kept. */
const sheetsMax = 60;
const textLengthMax = 60;

export function toDigiflazzBill(data: BillFields): BillOutcome {
  const { price, admin, selling_price: total } = data;
  return toSellableBill({
    customerName: cleanMessage(data.customer_name, '-'),
    ...readBillDetails(data),
    totalBill: total - admin,
    adminFee: admin,
    totalAmount: total,
    cost: price,
  });
}

/** Reads the facts of a bill. IAK describes its bills in the same words. */
export function readBillDetails({ periode, desc }: Pick<BillFields, 'periode' | 'desc'>): {
  billPeriod: string | null;
  details: BillDetails | null;
} {
  const facts = isObject(desc) ? desc : {};
  const sheets = findSheets(facts);
  const texts = [periode, ...sheets.map((each) => readText(each['periode']))].flatMap((each) =>
    each ? (clean(each) ?? []) : [],
  );
  const periods = texts.map((text) => readBillPeriods(text));
  const months = [...new Set(periods.flatMap((each) => each ?? []))].sort();
  const isUnderstood = periods.length > 0 && periods.every((each) => each !== null);
  const sheetDetails = sheets.map(toSheet).filter((each) => Object.keys(each).length > 0);
  const details = dropAbsent({
    periods: months.length > 0 ? months : undefined,
    periodText: isUnderstood ? undefined : clean([...new Set(texts)].join(', ')),
    tariff: clean(facts['tarif']),
    power: clean(facts['daya']),
    sheets: readCount(facts['lembar_tagihan']),
    penalty: readPenalty(facts, sheetDetails),
    sheetDetails: sheetDetails.length > 0 ? sheetDetails : undefined,
  });
  return {
    billPeriod: isUnderstood ? (months.at(-1) ?? null) : null,
    details: Object.keys(details).length > 0 ? details : null,
  };
}

/** Products differ in where they put their sheets: `desc.detail`, or `desc.tagihan.detail`. */
function findSheets(facts: Record<string, unknown>): Record<string, unknown>[] {
  const nested = facts['tagihan'];
  const list = facts['detail'] ?? (isObject(nested) ? nested['detail'] : undefined);
  return Array.isArray(list) ? list.filter(isObject).slice(0, sheetsMax) : [];
}

function toSheet(sheet: Record<string, unknown>): BillSheet {
  const text = clean(sheet['periode']);
  const [month] = (text && readBillPeriods(text)) ?? [];
  return dropAbsent({
    period: month ?? text,
    amount: readRupiah(sheet['nilai_tagihan']) ?? undefined,
    penalty: readRupiah(sheet['denda']) ?? undefined,
    meterStart: clean(sheet['meter_awal']),
    meterEnd: clean(sheet['meter_akhir']),
  });
}

function readPenalty(facts: Record<string, unknown>, sheets: BillSheet[]): number | undefined {
  const stated = readRupiah(facts['denda']);
  const parts = sheets.flatMap(({ penalty }) => penalty ?? []);
  return stated ?? (parts.length > 0 ? parts.reduce((sum, each) => sum + each, 0) : undefined);
}

function readCount(value: unknown): number | undefined {
  const text = readText(value)?.trim() ?? '';
  return /^\d{1,3}$/.test(text) ? Number(text) : undefined;
}

function clean(value: unknown): string | undefined {
  return cleanMessage(readText(value), '').slice(0, textLengthMax) || undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function dropAbsent<T extends object>(facts: T): Present<T> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as Present<T>;
}
