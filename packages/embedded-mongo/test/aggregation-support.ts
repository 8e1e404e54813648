import { Decimal128, Double, EJSON, Long } from 'bson';
import type { Collection, Document } from 'mongodb';

/** `L`, `D` and `C` create values of an exact type, for stored documents and expected results. */
export const L = (value: number | string): Long => Long.fromString(String(value));
export const D = (value: number): Double => new Double(value);
export const C = (value: string): Decimal128 => Decimal128.fromString(value);

/**
 * Formats a value as canonical extended JSON, which shows every type. Tests compare results in this
 * form.
 */
export function formatValue(value: unknown): string {
  return value === undefined ? 'missing' : EJSON.stringify({ value }, { relaxed: false }).slice(9, -1);
}

/**
 * Runs a pipeline. Values are returned as BSON classes, so that int32 and double can be
 * distinguished.
 */
export async function run(collection: Collection, pipeline: Document[]): Promise<Document[]> {
  return collection.aggregate(pipeline, { promoteValues: false }).toArray();
}

/**
 * Evaluates an expression for the only document of the collection. The result is undefined for a
 * missing value.
 */
export async function evaluate(collection: Collection, expression: unknown): Promise<unknown> {
  const [result] = await run(collection, [{ $replaceWith: { value: expression } }]);
  return result?.['value'];
}

/** Runs a pipeline and returns its error code, or 'no error'. */
export async function codeOf(collection: Collection, pipeline: Document[]): Promise<unknown> {
  try {
    await collection.aggregate(pipeline).toArray();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return 'no error';
}
