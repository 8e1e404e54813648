import { NotFoundError, ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { OperatorModel, type Operator } from './operator.model.js';

/** @throws NotFoundError if there is no operator of this name. */
export async function requireOperator(username: string): Promise<Operator> {
  const operator = await OperatorModel.findOne({ username }).lean<Operator>();
  if (!operator) {
    throw createNoOperatorError(username);
  }
  return operator;
}

export function createNoOperatorError(username: string): NotFoundError {
  return new NotFoundError(asWritten(`There is no operator ${username}.`), {
    atCommandLine: 'See them all: topup operator list',
  });
}

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
