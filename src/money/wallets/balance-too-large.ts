import { ValidationError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';

/** The wallet cannot take the amount: its balance would pass the largest safe integer. */
export function buildBalanceTooLargeError(): ValidationError {
  return new ValidationError([{ field: 'amount', message: say('balanceTooLarge') }]);
}
