import { env } from '../../config/env.js';
import type { Account } from './account.model.js';

/** The part of a seller's price that the platform keeps: its own, or that of all. A fraction. */
export function getCommissionRate({ commissionRate }: Pick<Account, 'commissionRate'>): number {
  return commissionRate ?? env.COMMISSION_RATE;
}
