import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Schema } from '../../src/api/openapi/types.js';

/** In strict mode an unknown keyword or format is an error instead of being ignored. */
const ajv = new Ajv2020({
  strict: true,
  // The document uses `type: ['string', 'null']`, and subschemas that do not repeat their type.
  allowUnionTypes: true,
  strictTypes: false,
  strictRequired: false,
  allErrors: true,
  verbose: true,
  // Do not validate the schemas in every process that reads one. The tests of the document do that.
  validateSchema: false,
});
addFormats.default(ajv, ['uri']);
// Stricter than RFC 3339: the service's times have milliseconds, and are in UTC or have the offset
// of the requested time zone.
ajv.addFormat('date-time', /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}(Z|[+-]\d{2}:\d{2})$/);

const compiled = new WeakMap<Schema, ValidateFunction>();

/**
 * Returns the violations of a JSON Schema (2020-12, the dialect of OpenAPI 3.1). Empty if the value
 * is valid.
 */
export function problemsOf(schema: Schema, value: unknown): string[] {
  const fits = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, fits);
  return [...(fits(value) ? [] : (fits.errors ?? []).map(describeErrors)), ...unsafeNumbers(value, 'answer')];
}

/** Returns the errors in a schema itself. Empty if the schema is valid. */
export function problemsOfSchema(schema: Schema): string[] {
  return ajv.validateSchema(schema) === true ? [] : (ajv.errors ?? []).map(describeErrors);
}

function describeErrors({ instancePath, message, params, data }: ErrorObject): string {
  return `answer${instancePath} ${message ?? ''} ${JSON.stringify(params)}: ${JSON.stringify(data)}`;
}

/**
 * Returns the integers that a JSON number cannot represent exactly. They are never valid amounts.
 */
function unsafeNumbers(value: unknown, at: string): string[] {
  if (typeof value === 'number') {
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? [`${at} is not exact: ${value}`] : [];
  }
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, each]) => unsafeNumbers(each, `${at}/${name}`))
    : [];
}
