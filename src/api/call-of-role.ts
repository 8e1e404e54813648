import type { Role } from '../accounts/account.model.js';
import type { Operation } from './operation.js';

/**
 * What tells the buyers' and the sellers' operation of one kind apart: name, path, and whose key may call it.
 * @param call.name Its name in the OpenAPI document, with `who` for the role.
 * @param call.path Below `/api/<role>`.
 */
export function buildRoleFields(
  role: Role,
  call: { name: (who: 'Buyer' | 'Seller') => string; path: string },
): Pick<Operation, 'id' | 'path' | 'role' | 'tag'> {
  const who = role === 'buyer' ? 'Buyer' : 'Seller';
  return { id: call.name(who), path: `/api/${role}${call.path}`, role, tag: who };
}
