import { findConfirmed } from '../database/find-confirmed.js';
import { NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { deposits, type Deposit } from './deposit.model.js';

/** As a majority holds it: "credited already" is an answer about money. @throws NotFoundError if there is no deposit with this id. */
export async function requireDeposit(depositId: string, accountId?: string): Promise<Deposit> {
  const owner = accountId === undefined ? {} : { accountId };
  const [deposit] = await findConfirmed(deposits, { _id: depositId, ...owner });
  if (!deposit) {
    throw new NotFoundError(say('noDeposit', { id: depositId }));
  }
  return deposit;
}
