import { JSONParser } from '@streamparser/json';
import type Joi from 'joi';
import type { PriceListReading, ProviderProduct } from './adapter.js';
import { readJson, matchSchema } from './json-response.js';
import { streamHttp, type HttpCall } from './http.js';

/**
 * Maximum size of a list in bytes, enough for about 150,000 products. A longer list is refused as a
 * whole, and no offer changes.
 */
const bytesMax = 67_108_864;
/** Timeout in milliseconds. A background job reads the list, so no request waits for it. */
const timeoutMs = 40_000;

interface RowStreamOptions<Row> {
  call: HttpCall;
  row: Joi.ObjectSchema<Row>;
  codeField: keyof Row & string;
  /** The field under `data` that may hold the rows. If absent, the rows are directly under `data`. */
  listField?: string;
  /**
   * True if the top-level `status` of the response says that the list is valid. If absent, every
   * list is valid.
   */
  isGood?: (status: unknown) => boolean;
  wants?: ((code: string) => boolean) | undefined;
  read: (row: Row) => ProviderProduct;
}

/**
 * Parses the rows under `data` while they arrive, because the response may have tens of megabytes.
 *
 * Rows that `wants` refuses are dropped at once. Other work of the process runs between the chunks.
 * A row that cannot be read is counted, and the others are read. If most rows cannot be read, the
 * list is not in this protocol and is refused as a whole.
 */
export async function streamRows<Row>(rows: RowStreamOptions<Row>): Promise<PriceListReading> {
  const value: ProviderProduct[] = [];
  const unreadable = { rows: 0, codes: [] as string[] };
  const state = { status: undefined as unknown, isList: false, isReadable: true, rows: 0 };
  const { listField } = rows;
  const paths = ['$.status', '$.data', '$.data.*', ...(listField ? [`$.data.${listField}.*`] : [])];
  const parser = new JSONParser({ paths, keepStack: false });
  parser.onError = () => {
    state.isReadable = false;
  };
  parser.onValue = ({ value: found, key, stack }) => {
    if (listField !== undefined && stack.length === 2 && typeof key === 'string') {
      state.isList ||= key === listField && Array.isArray(found);
    } else if (stack.length > 1) {
      state.rows += 1;
      const code = readCode(found, rows.codeField);
      const product = readRow(rows, found, code);
      if (product === 'unreadable') {
        unreadable.rows += 1;
        unreadable.codes.push(...(code === null ? [] : [code]));
      } else if (product) {
        value.push(product);
      }
    } else if (key === 'data') {
      state.isList = Array.isArray(found) || (listField !== undefined && state.isList);
    } else {
      state.status = found;
    }
  };
  const answer = await streamHttp({ ...rows.call, timeoutMs, bodyBytesMax: bytesMax }, (chunk) => {
    if (state.isReadable) {
      parser.write(chunk);
    }
  });
  const isMostlyRead = 2 * unreadable.rows <= state.rows;
  const isWhole = parser.isEnded && state.isReadable && state.isList && isMostlyRead;
  if (
    answer.kind === 'answer' &&
    isSuccessStatus(answer.status) &&
    isWhole &&
    (rows.isGood?.(state.status) ?? true)
  ) {
    return { ok: true, value, unreadable };
  }
  // The text of a 2xx response is not kept, so `toFailure` reports the response as unreadable.
  const { code, message } = toFailure(answer, rows.row);
  return { ok: false, code, message };
}

function isSuccessStatus(status: number): boolean {
  return status >= 200 && status < 300;
}

function toFailure<Row>(
  answer: Awaited<ReturnType<typeof streamHttp>>,
  schema: Joi.ObjectSchema<Row>,
): { code: string; message: string } {
  const read = readJson(answer, schema);
  return read.kind === 'read'
    ? { code: 'UNREADABLE', message: "The provider's response could not be read" }
    : read;
}

/** Returns the code of a row without blanks around it, or null if it has none. */
function readCode(found: unknown, codeField: string): string | null {
  const code: unknown =
    typeof found === 'object' && found !== null ? Reflect.get(found, codeField) : undefined;
  return typeof code === 'string' ? code.trim() || null : null;
}

function readRow<Row>(
  { row, codeField, wants, read }: RowStreamOptions<Row>,
  found: unknown,
  code: string | null,
): ProviderProduct | 'unreadable' | null {
  if (code === null) {
    return 'unreadable';
  }
  if (wants && !wants(code)) {
    return null;
  }
  const valid = matchSchema(row, { ...(found as object), [codeField]: code });
  return valid === null ? 'unreadable' : read(valid);
}

/** Returns the describing texts of a row that are texts. They never decide whether it is readable. */
export function describeRow(
  texts: Record<'name' | 'group' | 'brand', unknown>,
): Pick<ProviderProduct, 'name' | 'group' | 'brand'> {
  const isText = (entry: [string, unknown]): entry is [string, string] =>
    typeof entry[1] === 'string' && entry[1].trim() !== '';
  return Object.fromEntries(
    Object.entries(texts)
      .filter(isText)
      .map(([field, text]) => [field, text.trim().slice(0, 200)]),
  );
}

/**
 * Returns the rows by code. If a list repeats a code, the row with the higher cost counts, so that
 * nothing is sold below cost.
 */
export function indexByCode(rows: readonly ProviderProduct[]): Map<string, ProviderProduct> {
  const byCode = new Map<string, ProviderProduct>();
  for (const row of rows) {
    const known = byCode.get(row.code);
    if (!known || known.cost < row.cost) {
      byCode.set(row.code, row);
    }
  }
  return byCode;
}
