import type { Doc } from '../values/types.js';
import { numberField } from './fields.js';

/** The id under which the statement at this position of a retryable command is remembered. */
export function statementIdOf(command: Doc, index: number): number {
  const ids = command['stmtIds'];
  if (Array.isArray(ids) && typeof ids[index] === 'number') {
    return ids[index];
  }
  return numberField(command, 'stmtId', 0) + index;
}
