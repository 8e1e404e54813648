import { Option, type Command } from 'commander';
import type { Deposit } from '../../src/deposits/deposit.model.js';
import { registerBankStatement } from './bank-statement.js';
import { defineCommand, defineGroup, type CommandCall } from './define-command.js';
import { listText, rupiah, time } from './format.js';
import { defineOperationCommand } from './operation-command.js';
import { limitOption, reasonOption } from './options.js';

/** `topup deposit …`: deposits reported by clients. */
export function registerDeposit(program: Command): void {
  const deposit = defineGroup(program, 'deposit', 'Deposits of buyers');
  registerList(deposit);
  registerConfirm(deposit);
  registerReject(deposit);
  registerBankStatement(deposit);
}

function registerList(deposit: Command): void {
  defineOperationCommand(deposit, {
    usage: 'list',
    action: 'deposit.look',
    summary: 'List deposits, by default pending ones',
    details:
      'Pending deposits are listed oldest first. With --account or another status, the newest come first.',
    examples: ['deposit list', 'deposit list --account warung-sari --status all'],
    options: [
      new Option('--status <status>', 'only this status')
        .choices(['pending', 'completed', 'rejected', 'all'])
        .default('pending'),
      new Option('--account <username>', 'only deposits of one account'),
      limitOption(),
    ],
    operation: async () => (await import('../../src/console/deposits/deposits.js')).listDeposits,
    input: ({ options: { status } }: CommandCall<{ status: string }>) => ({
      status: status === 'pending' ? 'waiting' : status,
    }),
    output: ({ deposits, looked_back_to }) => ({
      data: deposits,
      text: listText(deposits, {
        columns: ['id', 'account', 'ref_id', 'amount', 'status', 'created_at'],
        empty: 'No deposit matches.',
        searchedBackTo: looked_back_to,
      }),
    }),
  });
}

function registerConfirm(deposit: Command): void {
  defineCommand(deposit, {
    usage: 'confirm <id>',
    action: 'deposit.decide',
    summary: 'Confirm a pending deposit after its money has arrived, and credit it',
    details:
      'Credits the wallet and sends deposit.completed. Check the bank statement first: the buyer can spend the money at once.\nRepeating it changes nothing.',
    examples: ['deposit confirm 01a1fde5d07770f0be10a241618d0695 --reason "BCA mutation 21/11, 250.000"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const { confirmDeposit } = await import('../../src/deposits/decide-deposit.js');
      const { deposit: confirmed, changed } = await confirmDeposit(arg('id'), by);
      return {
        data: { ...present(confirmed), changed },
        text: changed
          ? `Credited ${rupiah(confirmed.amount)}; the balance is now ${rupiah(confirmed.balanceAfter)}.`
          : `Nothing changed: it was already credited at ${time(confirmed.completedAt)}.`,
      };
    },
  });
}

function registerReject(deposit: Command): void {
  defineCommand(deposit, {
    usage: 'reject <id>',
    action: 'deposit.decide',
    summary: 'Reject a pending deposit that was never paid',
    details:
      'It can never be credited afterwards. The account can request a deposit again with a new ref_id.',
    examples: ['deposit reject 01a1fde5d07770f0be10a241618d0695 --reason "no mutation in 3 days"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const { rejectDeposit } = await import('../../src/deposits/decide-deposit.js');
      const { deposit: rejected, changed } = await rejectDeposit(arg('id'), by);
      return {
        data: { ...present(rejected), changed },
        text: changed ? 'Rejected.' : 'Nothing changed: it was already rejected.',
      };
    },
  });
}

function present(deposit: Deposit) {
  return {
    id: deposit._id,
    account_id: deposit.accountId,
    ref_id: deposit.refId,
    amount: deposit.amount,
    status: deposit.status,
    balance_before: deposit.balanceBefore,
    balance_after: deposit.balanceAfter,
    created_at: deposit.createdAt,
    completed_at: deposit.completedAt,
  };
}
