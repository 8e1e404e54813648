import { NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { DepositModel, type Deposit } from './deposit.model.js';

/** @throws NotFoundError if there is no deposit with this id. */
export async function requireDeposit(depositId: string, accountId?: string): Promise<Deposit> {
  const deposit = await DepositModel.findOne({
    _id: depositId,
    ...(accountId !== undefined && { accountId }),
  }).lean<Deposit>();
  if (!deposit) {
    throw new NotFoundError(say('noDeposit', { id: depositId }));
  }
  return deposit;
}
