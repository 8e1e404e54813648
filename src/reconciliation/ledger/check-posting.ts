import { checkMovement } from './check-journal.js';
import type { LedgerFinding } from './ledger-report.js';
import type { Subject } from './subject.js';

/** A posting moves the sum of its credits from what the seller is owed to the seller's wallet. */
export function checkPosting({ id, journals, posted }: Subject): LedgerFinding[] {
  const [journal, ...others] = journals.filter((each) => each.kind === 'seller-posting');
  const finding = { check: 'seller-credits' as const, subject: `posting ${id}` };
  const [first] = posted;
  if (!first) {
    return journal ? [{ ...finding, message: 'no seller credit names this posting' }] : [];
  }
  if (!journal) {
    return [{ ...finding, message: `${posted.length} credits name this posting, which has no journal` }];
  }
  const sum = posted.reduce((total, credit) => total + credit.amount, 0);
  const strangers = posted.filter((credit) => credit.sellerId !== first.sellerId);
  return [
    ...others.map(() => ({ ...finding, message: 'it was posted more than once' })),
    ...strangers.map((credit) => ({ ...finding, message: `credit ${credit._id} belongs to another seller` })),
    ...checkMovement(
      journal,
      [
        { account: `payable:${first.sellerId}`, amount: -sum },
        { account: `wallet:${first.sellerId}`, amount: sum },
      ],
      finding,
    ),
  ];
}
