import type { Role } from '../accounts/account.model.js';
import type { Operation } from './operation.js';

export function tagOf(role: Role): Operation['tag'] {
  return role === 'buyer' ? 'Buyer' : 'Seller';
}
