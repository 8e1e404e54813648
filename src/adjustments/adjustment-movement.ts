import type { PostingResult, WalletAfter } from '../money/posting/posting.js';
import { buildWalletMovement } from '../money/posting/wallet-movement.js';
import { buildBalanceTooLargeError } from '../money/wallets/balance-too-large.js';
import { ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import type { Adjustment } from './adjustment.model.js';

/** What an adjustment does to the wallet, whether it had to be approved or not. */
export function buildAdjustmentMovement(adjustment: Adjustment) {
  return buildWalletMovement('adjustment', 'platform:adjustments', adjustment);
}

/**
 * @returns the wallet after it, null where no money was moved.
 * @throws ConflictError if the balance does not cover it, or somebody else has decided it; ValidationError.
 */
export function requirePosted({ _id, amount }: Adjustment, result: PostingResult): WalletAfter | null {
  switch (result.outcome) {
    case 'posted':
      return result.wallet;
    case 'insufficient':
      throw new ConflictError(
        asWritten(`The wallet holds ${result.balance}: a debit of ${-amount} would take it below zero.`),
      );
    case 'too-large':
      throw buildBalanceTooLargeError();
    case 'duplicate':
    case 'stale':
      throw new ConflictError(asWritten(`Adjustment ${_id} has just been decided. Look at it again.`));
  }
}
