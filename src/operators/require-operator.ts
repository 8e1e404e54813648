import { NotFoundError } from '../shared/errors.js';
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
