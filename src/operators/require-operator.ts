import { NotFoundError, ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { OperatorModel, type Operator } from './operator.model.js';

/**
 * Finds an operator by username.
 * @throws NotFoundError if there is no operator with this name.
 */
export async function requireOperator(username: string): Promise<Operator> {
  const operator = await OperatorModel.findOne({ username }).lean<Operator>();
  if (!operator) {
    throw buildOperatorNotFoundError(username);
  }
  return operator;
}

export function buildOperatorNotFoundError(username: string): NotFoundError {
  return new NotFoundError(asWritten(`There is no operator ${username}.`), {
    atCommandLine: 'See them all: topup operator list',
  });
}

/**
 * Builds the filter for a change after re-authentication. It matches unless all sessions were ended
 * since the operator was read, for example by a new password. If nothing matches, throw
 * `createChangedSinceProofError`.
 */
export function buildUnchangedFilter({ _id, sessionEpoch }: Pick<Operator, '_id' | 'sessionEpoch'>) {
  return { _id, sessionEpoch };
}

export function createChangedSinceProofError({ username }: Pick<Operator, 'username'>): ConflictError {
  return new ConflictError(
    asWritten(
      `${username} has a new password, role or second factor, or was removed. Nothing was changed. Log in again.`,
    ),
  );
}
