import { ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import type { Operator } from './operator.model.js';

/**
 * Whose a change is that somebody has proven to be theirs: it is made as long as nothing has ended all sessions since they were read,
 * another password for one. Where it finds nobody, `provenNoMore` says so.
 */
export function buildUnchangedFilter({ _id, sessionEpoch }: Pick<Operator, '_id' | 'sessionEpoch'>) {
  return { _id, sessionEpoch };
}

export function createChangedSinceProofError({ username }: Pick<Operator, 'username'>): ConflictError {
  return new ConflictError(
    asWritten(
      `${username} got another password, role or second factor meanwhile, or is gone; nothing was changed. Log in again.`,
    ),
  );
}
