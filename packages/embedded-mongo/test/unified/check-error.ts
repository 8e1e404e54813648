import { MongoBulkWriteError, MongoError, MongoServerError } from 'mongodb';
import type { ExpectedError } from './cases.js';
import { match, Mismatch, type MatchContext } from './match.js';

/**
 * Checks an error.
 * @throws Mismatch if the error differs from the expectation.
 */
export function checkError(expected: ExpectedError, error: unknown, context: MatchContext): void {
  const isOfServer = error instanceof MongoServerError;
  const { message, code, codeName, errorResponse } = error as MongoServerError;
  const hasLabel = (label: string): boolean => error instanceof MongoError && error.hasErrorLabel(label);
  const found: Required<Omit<ExpectedError, 'errorResponse' | 'expectResult'>> = {
    isError: true,
    isClientError: !isOfServer,
    errorContains: message,
    errorCode: Number(code),
    errorCodeName: codeName ?? '',
    errorLabelsContain: (expected.errorLabelsContain ?? []).filter(hasLabel),
    errorLabelsOmit: (expected.errorLabelsOmit ?? []).filter((label) => !hasLabel(label)),
  };
  const { errorResponse: response, expectResult, errorContains, ...exact } = expected;
  match(exact, found, context);
  if (errorContains !== undefined && !message.toLowerCase().includes(errorContains.toLowerCase())) {
    throw new Mismatch(
      `${context.path}\n    expected an error with "${errorContains}"\n    found    ${message}`,
    );
  }
  if (response !== undefined) {
    match(response, errorResponse, { ...context, path: `${context.path}.errorResponse` });
  }
  if (expectResult !== undefined) {
    const result = error instanceof MongoBulkWriteError ? error.result : undefined;
    match(expectResult, result, { ...context, path: `${context.path}.partialResult` });
  }
}
