import type { Role } from '../../accounts/account.model.js';
import type { AnyOperation } from '../operation.js';
import { getConfigFor } from './get-config.js';
import { listRequestsFor } from './list-requests.js';
import { rotateKeyFor } from './rotate-key.js';
import { updateConfigFor } from './update-config.js';

/** What an account of this role sees and changes of itself (docs/reference/api/configuration.md). */
export function accountOperations(role: Role): AnyOperation[] {
  return [getConfigFor(role), updateConfigFor(role), rotateKeyFor(role), listRequestsFor(role)];
}
