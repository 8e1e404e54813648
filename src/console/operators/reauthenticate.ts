import Joi from 'joi';
import { verifyOperator } from '../../operators/login.js';
import { passwordLengthMax } from '../../operators/password.js';
import type { ConsoleCall } from '../api/console-operation.js';

/** Proof that the person at a logged-in browser is the session's operator. */
export interface Proof {
  password: string;
  code: string;
}

/** Body fields of changes that require re-authentication (decision 041). */
export const proofFields = {
  password: Joi.string().max(passwordLengthMax).required().description('Current password of the operator.'),
  code: Joi.string()
    .max(40)
    .allow('')
    .default('')
    .description('Code of the authenticator app, or a recovery code. Required if a second factor is set up.'),
};

/**
 * Verifies the operator's password and code.
 * @throws UnauthorizedError if the password or the code is wrong.
 * @throws RateLimitError after too many failed attempts.
 */
export async function reauthenticate(
  call: Pick<ConsoleCall<Proof, unknown, unknown>, 'operator' | 'body' | 'browser'>,
): Promise<void> {
  const { password, code } = call.body;
  await verifyOperator(call.operator, { password, code }, call.browser.client);
}
