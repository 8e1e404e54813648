import Joi from 'joi';
import { proveOperator } from '../../operators/login.js';
import { passwordLengthMax } from '../../operators/password.js';
import type { ConsoleCall } from '../api/console-operation.js';

/** What shows that whoever sits at a logged-in browser is its operator. */
export interface Proof {
  password: string;
  code: string;
}

/** In bodies of changes that a borrowed browser must not make (decision 041). */
export const proofFields = {
  password: Joi.string().max(passwordLengthMax).required().description('The own one, as it is now.'),
  code: Joi.string()
    .max(40)
    .allow('')
    .default('')
    .description('Of the authenticator app, or a recovery code; where a second factor is set up.'),
};

/** @throws UnauthorizedError for a wrong password or code, RateLimitError after too many of them. */
export async function reauthenticate(
  call: Pick<ConsoleCall<Proof, unknown, unknown>, 'operator' | 'body' | 'browser'>,
): Promise<void> {
  const { password, code } = call.body;
  await proveOperator(call.operator, { password, code }, call.browser.seat);
}
