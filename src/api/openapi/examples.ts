/**
 * Real responses of every call. To record them: `RECORD=1 npm test --
 * test/api/openapi/examples/examples.long.test.ts`.
 */
import { readConfigJson } from '../../../config/project-file.js';

/** Examples by name. */
type NamedExamples = Record<string, unknown>;

export interface RecordedExamples {
  /** By operation. */
  operations: Record<string, OperationExamples>;
  /** By HTTP status. All operations share the failures. */
  failures: Record<string, NamedExamples>;
  /** By event. */
  webhooks: Record<string, unknown>;
}

export interface OperationExamples {
  /** The body of the first call. */
  request?: unknown;
  /** By HTTP status and media type. */
  responses: Record<string, Record<string, NamedExamples>>;
}

export const recordedExamples = readConfigJson('openapi-examples.json') as RecordedExamples;

/**
 * Returns `examples` of a media type, `example` if there is only one (more tools read it), or
 * nothing.
 */
export function listExamples(named: NamedExamples | undefined): {
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
} {
  if (!named) {
    return {};
  }
  const values = Object.values(named);
  if (values.length === 1) {
    return { example: values[0] };
  }
  return { examples: Object.fromEntries(Object.entries(named).map(([name, value]) => [name, { value }])) };
}
