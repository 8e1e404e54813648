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
    summary: 'All that is kept about a customer number, as JSON',
    details:
      'Verify first that the requester owns the number. What was masked is not found: only its last digits\nare left. The audit log shows the last digits alone.',
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
    summary: 'Erase a customer number wherever it is kept',
    details:
      'For good. Amounts, dates and references stay: they are the books. What is not final, under review or being told to\na client keeps the number; run it again then.',
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
          `Erased in ${purchases} transactions and ${bills} bills; ${reports} reports ended.`,
          ...left.map(({ transactionId, quoteId, why }) =>
            transactionId === null
              ? `Left: inquiry ${quoteId ?? ''} (${why})`
              : `Left: transaction ${transactionId} (${why})`,
          ),
          ...(left.length > 0 ? ['Run it again when these are over.'] : []),
          ...(isHeld
            ? [
                'NOT DONE: something else is writing what is held, or a process that was killed was. MongoDB ends what such a',
                'process has left after transactionLifetimeLimitSeconds (60 s unless you set it): run it again then.',
              ]
            : []),
        ].join('\n'),
        failed: isHeld,
      };
    },
  });
}
