import type { Attempt } from '../../purchases/order.model.js';
import { isFinal } from '../../purchases/states.js';
import type { Transaction } from '../../purchases/purchase.model.js';
import type { LedgerFinding } from './ledger-report.js';

const openStatuses: readonly Attempt['status'][] = ['PREPARED', 'SENT', 'UNKNOWN'];

/** money.md 4 and "The fulfilment worker": never two orders at once, never an order for more than was debited. */
export function checkAttempts(transaction: Transaction, attempts: readonly Attempt[]): LedgerFinding[] {
  const problems: string[] = [];
  const open = attempts.filter((each) => each.open);
  const bought = attempts.filter((each) => each.status === 'OK');
  if (open.length > 1) {
    problems.push(`${open.length} attempts are open`);
  }
  if (isFinal(transaction.status) && open.length > 0) {
    problems.push(`it is ${transaction.status} and attempt ${open[0]?.n ?? 0} is still open`);
  }
  if (transaction.status === 'SUCCESS' && bought.length !== 1) {
    problems.push(`it is SUCCESS and ${bought.length} attempts were bought, expected 1`);
  }
  if (transaction.status !== 'SUCCESS' && transaction.status !== 'REFUNDED' && bought.length > 0) {
    problems.push(`it is ${transaction.status} and attempt ${bought[0]?.n ?? 0} was bought`);
  }
  if (transaction.status === 'SUCCESS' && bought[0] && bought[0].sellerId !== transaction.sellerId) {
    problems.push(`it names seller ${transaction.sellerId ?? 'none'}, bought was from ${bought[0].sellerId}`);
  }
  if (transaction.status === 'PENDING' && open[0] && open[0].status !== 'PREPARED') {
    problems.push(`it is PENDING and attempt ${open[0].n} is ${open[0].status}`);
  }
  attempts.forEach((attempt, index) => problems.push(...checkAttempt(transaction, attempt, index + 1)));
  return problems.map((message) => ({
    check: 'attempts',
    subject: `transaction ${transaction._id}`,
    message,
  }));
}

function checkAttempt(transaction: Transaction, attempt: Attempt, n: number): string[] {
  const problems: string[] = [];
  if (attempt.n !== n || attempt._id !== `${transaction._id}-${n}`) {
    problems.push(`attempt ${attempt._id} is number ${attempt.n}, expected ${transaction._id}-${n}`);
  }
  if (attempt.open !== openStatuses.includes(attempt.status)) {
    problems.push(`attempt ${attempt.n} is ${attempt.status} and marked ${attempt.open ? 'open' : 'closed'}`);
  }
  if (attempt.offerPrice > transaction.price) {
    problems.push(
      `attempt ${attempt.n} costs ${attempt.offerPrice}, more than the ${transaction.price} debited`,
    );
  }
  return problems;
}
