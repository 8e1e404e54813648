import type { Command } from 'commander';
import { defineCommand, defineGroup } from './define-command.js';
import { reasonOption } from './options.js';

/**
 * `topup customer …`: legal requests about a customer's data (docs/explanation/personal-data.md).
 */
export function registerCustomer(program: Command): void {
  const customer = defineGroup(program, 'customer', "Answer requests about a customer's data");
  defineCommand(customer, {
    usage: 'export <number>',
    action: 'customer.export',
    summary: 'Export all data about a customer number as JSON',
    details:
      'Verify first that the requester owns the number. Masked numbers are not found, because only their last digits\nremain. The audit log shows only the last digits.',
    examples: ['customer export 081234561230 --reason "request 44, identity checked" > answer.json'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const { exportCustomer } = await import('../../src/privacy/export-customer.js');
      const data = await exportCustomer(arg('number'), by);
      return { data, text: JSON.stringify(data, null, 2) };
    },
  });
  defineCommand(customer, {
    usage: 'erase <number>',
    action: 'customer.erase',
    summary: 'Erase a customer number everywhere',
    details:
      'This cannot be undone. Amounts, dates and references stay, because the books need them. Purchases that are not final,\nunder review or still being delivered to a client keep the number. Run the command again when they are done.',
    examples: ['customer erase 081234561230 --reason "request 45, identity checked"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const { eraseCustomer } = await import('../../src/privacy/erase-customer.js');
      const erased = await eraseCustomer(arg('number'), by);
      const { purchases, bills, reports, left } = erased;
      const isHeld = left.some(({ why }) => why === 'held by a database transaction');
      return {
        data: {
          transactions: purchases,
          bills,
          reports,
          left: left.map(({ transactionId, quoteId, why }) => ({
            ...(transactionId !== null && { transaction_id: transactionId }),
            ...(quoteId !== null && { inquiry_id: quoteId }),
            why,
          })),
        },
        text: [
          `Erased in ${purchases} transactions and ${bills} bills; ${reports} reports expired.`,
          ...left.map(({ transactionId, quoteId, why }) =>
            transactionId === null
              ? `Not erased: inquiry ${quoteId ?? ''} (${why})`
              : `Not erased: transaction ${transactionId} (${why})`,
          ),
          ...(left.length > 0 ? ['Run the command again when these are done.'] : []),
          ...(isHeld
            ? [
                'NOT DONE: an open database transaction holds some of the data. If it belongs to a killed process, MongoDB ends it',
                'after transactionLifetimeLimitSeconds (60 s unless you set it). Run the command again then.',
              ]
            : []),
        ].join('\n'),
        failed: isHeld,
      };
    },
  });
}
