import { Option, type Command } from 'commander';
import type { TransactionDescription } from '../../src/purchases/review/describe-purchase.js';
import { defineCommand, defineGroup } from './define-command.js';
import { colours, facts, heading, rupiah, status, table, time } from './format.js';

/** `topup transaction show`: what became of a purchase. */
export function registerTransaction(program: Command): void {
  const group = defineGroup(program, 'transaction', 'Look into purchases');
  defineCommand<{ account?: string }>(group, {
    usage: 'show <id>',
    summary: 'Show one purchase and everything that happened to it, in order',
    details: "By our transaction id, or by the client's ref_id together with --account.",
    examples: [
      'transaction show 01a1fde5d07770f0be10a241618d0695',
      'transaction show INV-2291 --account warung-sari',
    ],
    options: [new Option('--account <username>', 'the client whose ref_id this is')],
    async run({ arg, options }) {
      const { describeTransaction } = await import('../../src/purchases/review/describe-purchase.js');
      const found = await describeTransaction(arg('id'), options.account);
      return { data: found, text: describeText(found) };
    },
  });
}

function describeText({
  transaction,
  usernames,
  deliveries,
  timeline,
  cases,
}: TransactionDescription): string {
  const summary = facts([
    ['transaction', transaction._id],
    ['account', `${usernames[transaction.accountId] ?? transaction.accountId}, ref_id ${transaction.refId}`],
    ['product', `${transaction.productCode} ${transaction.productName}`],
    ['customer', transaction.customerNumber],
    ['price', rupiah(transaction.price)],
    ['status', status(transaction.status)],
    ['message', transaction.message],
    ['serial number', transaction.serialNumber],
    ['seller', transaction.sellerId && (usernames[transaction.sellerId] ?? transaction.sellerId)],
    ['commission', transaction.commissionAmount === null ? null : rupiah(transaction.commissionAmount)],
    ['looked at again', transaction.nextActionAt && time(transaction.nextActionAt)],
    ['under review since', transaction.reviewSince && time(transaction.reviewSince)],
  ]);
  const steps = timeline.map(({ at, what, detail }) => [
    time(at),
    what === 'state' ? colours.bold(what) : what,
    what === 'state' ? colours.bold(detail) : detail,
  ]);
  const waiting = deliveries
    .filter((each) => each.state === 'due')
    .map((each) => `${each.event} to ${each.url} is due at ${time(each.nextAttemptAt)}`);
  const open = cases
    .filter((each) => each.resolvedAt === null)
    .map((each) => `case ${each._id} (${each.kind}) is open: topup case resolve ${each._id} --reason …`);
  return [
    summary,
    heading('What happened'),
    table(['at', '', ''], steps),
    ...(waiting.length + open.length > 0 ? [heading('Still open'), ...waiting, ...open] : []),
  ].join('\n');
}
