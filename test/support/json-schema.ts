import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Schema } from '../../src/api/openapi/types.js';

/** Strict: a keyword or a format that it does not know is an error, so that none is passed over. */
const ajv = new Ajv2020({
  strict: true,
  // The document says `type: ['string', 'null']`, and gives a schema in parts without repeating its type.
  allowUnionTypes: true,
  strictTypes: false,
  strictRequired: false,
  allErrors: true,
  verbose: true,
  // A schema is checked where the document is tested, not in every process that reads one.
  validateSchema: false,
});
addFormats.default(ajv, ['uri']);
// Narrower than RFC 3339: our times are all of one kind, in UTC or with the offset of the zone that was asked for.
ajv.addFormat('date-time', /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}(Z|[+-]\d{2}:\d{2})$/);

const compiled = new WeakMap<Schema, ValidateFunction>();

/** What is wrong with a value by a JSON Schema (2020-12, the dialect of OpenAPI 3.1); empty when it fits. */
export function problemsOf(schema: Schema, value: unknown): string[] {
  const fits = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, fits);
  return [...(fits(value) ? [] : (fits.errors ?? []).map(inWords)), ...unsafeNumbers(value, 'answer')];
}

/** What is wrong with a schema itself; empty when it is one of the dialect. */
export function problemsOfSchema(schema: Schema): string[] {
  return ajv.validateSchema(schema) === true ? [] : (ajv.errors ?? []).map(inWords);
}

function inWords({ instancePath, message, params, data }: ErrorObject): string {
  return `answer${instancePath} ${message ?? ''} ${JSON.stringify(params)}: ${JSON.stringify(data)}`;
}

/** A whole number that JSON can't carry exactly is no amount, whatever its schema says. */
function unsafeNumbers(value: unknown, at: string): string[] {
  if (typeof value === 'number') {
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? [`${at} is not exact: ${value}`] : [];
  }
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, each]) => unsafeNumbers(each, `${at}/${name}`))
    : [];
}
