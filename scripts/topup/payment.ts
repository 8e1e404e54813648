import { Option, type Command } from 'commander';
import type { Payment } from '../../src/deposits/payment.model.js';
import { defineCommand, defineGroup } from './define-command.js';
import { listText, time, type Column } from './format.js';
import { limitOption } from './options.js';

/** `topup payments …`: payments reported by a bank or payment gateway. */
export function registerPayments(program: Command): void {
  const group = defineGroup(program, 'payments', 'Payments reported by a bank or payment gateway');
  defineCommand<{ status: Payment['status'] | 'all'; limit: number }>(group, {
    usage: 'list',
    action: 'deposit.look',
    summary: 'List reported payments, newest first',
    details:
      'completed  its deposit was credited\ncase       no pending deposit matched: see topup case list, then run topup deposit confirm for the right deposit',
    examples: ['payments list', 'payments list --status case'],
    options: [
      new Option('--status <status>', 'status').choices(['completed', 'case', 'all']).default('all'),
      limitOption(),
    ],
    async run({ options }) {
      const { listPayments } = await import('../../src/deposits/list-deposits.js');
      const found = await listPayments({
        ...(options.status !== 'all' && { status: options.status }),
        limit: options.limit,
      });
      const data = found.map((each) => ({
        payment_id: each._id,
        username: each.username,
        ref_id: each.refId,
        amount: each.amount,
        status: each.status,
        deposit_id: each.depositId,
        created_at: each.createdAt,
      }));
      const columns: Column<(typeof data)[number]>[] = [
        ['payment', (row) => row.payment_id],
        ['account', (row) => row.username],
        'ref_id',
        'amount',
        'status',
        ['deposit', (row) => row.deposit_id],
        ['told', (row) => time(row.created_at)],
      ];
      return { data, text: listText(data, { columns, empty: 'No payment matches.' }) };
    },
  });
}
