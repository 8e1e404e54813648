import { Decimal128, Double, EJSON, Long } from 'bson';
import type { Collection, Document } from 'mongodb';

/** Values of exact types for expectations and stored documents. */
export const L = (value: number | string): Long => Long.fromString(String(value));
export const D = (value: number): Double => new Double(value);
export const C = (value: string): Decimal128 => Decimal128.fromString(value);

/**
 * Formats a value as canonical extended JSON, which shows every type. Results are compared in this
 * form.
 */
export function shown(value: unknown): string {
  return value === undefined ? 'missing' : EJSON.stringify({ value }, { relaxed: false }).slice(9, -1);
}

/** Runs a pipeline and returns every value in its BSON class, to distinguish int32 from double. */
export async function run(collection: Collection, pipeline: Document[]): Promise<Document[]> {
  return collection.aggregate(pipeline, { promoteValues: false }).toArray();
}

/**
 * The value of an expression for the only document of the collection; undefined if it is missing.
 */
export async function evaluated(collection: Collection, expression: unknown): Promise<unknown> {
  const [result] = await run(collection, [{ $replaceWith: { value: expression } }]);
  return result?.['value'];
}

/** The error code with which a pipeline fails. */
export async function codeOf(collection: Collection, pipeline: Document[]): Promise<unknown> {
  try {
    await collection.aggregate(pipeline).toArray();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return 'no error';
}
