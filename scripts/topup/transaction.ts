import { withoutUrlSecrets } from '../../src/shared/mask.js';
import { Option, type Command } from 'commander';
import { groupedToken } from '../../src/purchases/pln-token.js';
import type { PurchaseDescription } from '../../src/purchases/review/describe-purchase.js';
import { defineCommand, defineGroup } from './define-command.js';
import { colours, facts, heading, rupiah, status, table, time } from './format.js';

/** `topup transaction show`: what became of a purchase. */
export function registerPurchase(program: Command): void {
  const group = defineGroup(program, 'transaction', 'Look into purchases');
  defineCommand<{ account?: string }>(group, {
    usage: 'show <id>',
    action: 'purchase.look',
    summary: 'Show one purchase and everything that happened to it, in order',
    details: "By our transaction id, or by the client's ref_id together with --account.",
    examples: [
      'transaction show 01a1fde5d07770f0be10a241618d0695',
      'transaction show INV-2291 --account warung-sari',
    ],
    options: [new Option('--account <username>', 'the client whose ref_id this is')],
    async run({ arg, options }) {
      const { describePurchase } = await import('../../src/purchases/review/describe-purchase.js');
      const found = await describePurchase(arg('id'), options.account);
      const { purchase, orders, ...rest } = found;
      // Scripts read these names.
      return { data: { transaction: purchase, attempts: orders, ...rest }, text: describeText(found) };
    },
  });
}

function describeText({
  purchase,
  usernames,
  deliveries,
  timeline,
  cases,
  decisions,
}: PurchaseDescription): string {
  const summary = facts([
    ['transaction', purchase._id],
    ['account', `${usernames[purchase.accountId] ?? purchase.accountId}, ref_id ${purchase.refId}`],
    ['product', `${purchase.productCode} ${purchase.productName}`],
    ['customer', purchase.customerNumber],
    ['price', rupiah(purchase.price)],
    ['status', status(purchase.status)],
    ['message', purchase.message],
    ['serial number', groupedToken(purchase)],
    ['seller', purchase.sellerId && (usernames[purchase.sellerId] ?? purchase.sellerId)],
    ['commission', purchase.commissionAmount === null ? null : rupiah(purchase.commissionAmount)],
    ['looked at again', purchase.nextActionAt && time(purchase.nextActionAt)],
    ['under review since', purchase.reviewSince && time(purchase.reviewSince)],
  ]);
  const steps = timeline.map(({ at, what, detail }) => [
    time(at),
    what === 'state' ? colours.bold(what) : what,
    what === 'state' ? colours.bold(detail) : detail,
  ]);
  const waiting = deliveries
    .filter((each) => each.state === 'due')
    .map((each) => `${each.event} to ${withoutUrlSecrets(each.url)} is due at ${time(each.nextAttemptAt)}`);
  const open = cases
    .filter((each) => each.resolvedAt === null)
    .map((each) => `case ${each._id} (${each.kind}) is open: topup case resolve ${each._id} --reason …`);
  const review = decisions.map(
    (each) => `decide: topup review resolve ${purchase._id} --as ${each} --reason …`,
  );
  return [
    summary,
    heading('What happened'),
    table(['at', '', ''], steps),
    ...(waiting.length + open.length + review.length > 0
      ? [heading('Still open'), ...waiting, ...open, ...review]
      : []),
  ].join('\n');
}
