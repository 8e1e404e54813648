import type { Order } from '../../purchases/order.model.js';
import { isFinal } from '../../purchases/states.js';
import type { Purchase } from '../../purchases/purchase.model.js';
import type { LedgerFinding } from './ledger-report.js';

const openStatuses: readonly Order['status'][] = ['PREPARED', 'SENT', 'UNKNOWN'];

/** docs/money.md#rules, 4: never two orders at once, never an order for more than was debited. */
export function checkOrders(purchase: Purchase, orders: readonly Order[]): LedgerFinding[] {
  const problems: string[] = [];
  const open = orders.filter((each) => each.open);
  const bought = orders.filter((each) => each.status === 'OK');
  if (open.length > 1) {
    problems.push(`${open.length} attempts are open`);
  }
  if (isFinal(purchase.status) && open.length > 0) {
    problems.push(`it is ${purchase.status} and attempt ${open[0]?.n ?? 0} is still open`);
  }
  if (purchase.status === 'SUCCESS' && bought.length !== 1) {
    problems.push(`it is SUCCESS and ${bought.length} attempts were bought, expected 1`);
  }
  if (purchase.status !== 'SUCCESS' && purchase.status !== 'REFUNDED' && bought.length > 0) {
    problems.push(`it is ${purchase.status} and attempt ${bought[0]?.n ?? 0} was bought`);
  }
  if (purchase.status === 'SUCCESS' && bought[0] && bought[0].sellerId !== purchase.sellerId) {
    problems.push(`it names seller ${purchase.sellerId ?? 'none'}, bought was from ${bought[0].sellerId}`);
  }
  if (purchase.status === 'PENDING' && open[0] && open[0].status !== 'PREPARED') {
    problems.push(`it is PENDING and attempt ${open[0].n} is ${open[0].status}`);
  }
  orders.forEach((order, index) => problems.push(...checkOrder(purchase, order, index + 1)));
  return problems.map((message) => ({
    check: 'attempts',
    subject: `transaction ${purchase._id}`,
    message,
  }));
}

function checkOrder(purchase: Purchase, order: Order, n: number): string[] {
  const problems: string[] = [];
  if (order.n !== n || order._id !== `${purchase._id}-${n}`) {
    problems.push(`attempt ${order._id} is number ${order.n}, expected ${purchase._id}-${n}`);
  }
  if (order.open !== openStatuses.includes(order.status)) {
    problems.push(`attempt ${order.n} is ${order.status} and marked ${order.open ? 'open' : 'closed'}`);
  }
  if (order.offerPrice > purchase.price) {
    problems.push(`attempt ${order.n} costs ${order.offerPrice}, more than the ${purchase.price} debited`);
  }
  return problems;
}
