import type { AnyOperation } from '../operation.js';
import { createWalletTransaction } from './create-transaction.js';
import { getWalletTransaction } from './get-transaction.js';

/** Interface 4.1. */
export const walletOperations: AnyOperation[] = [createWalletTransaction, getWalletTransaction];
