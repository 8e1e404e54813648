import { Option, type Command } from 'commander';
import type { Settlement, SettlementStatus } from '../../src/settlements/settlement.model.js';
import { defineCommand, defineGroup } from './define-command.js';
import { rupiah, status, table, time } from './format.js';
import { limitOption, reasonOption } from './options.js';

type StatusChoice = 'open' | SettlementStatus;

/** `topup settlement …`: withdrawals of sellers. */
export function registerSettlement(program: Command): void {
  const settlement = defineGroup(program, 'settlement', 'Withdrawals of sellers');
  registerList(settlement);
  registerApprove(settlement);
  registerComplete(settlement);
  registerFail(settlement);
}

function registerList(settlement: Command): void {
  defineCommand<{ status: StatusChoice; account?: string; limit: number }>(settlement, {
    usage: 'list',
    summary: 'List settlements, by default those that are not finished',
    details:
      'The longest waiting first. "approval" tells that a new bank account waits for `settlement approve`.',
    examples: ['settlement list', 'settlement list --account seller --status completed'],
    options: [
      new Option('--status <status>', 'which')
        .choices(['open', 'pending', 'processing', 'completed', 'failed'])
        .default('open'),
      new Option('--account <username>', 'only those of one account'),
      limitOption(),
    ],
    async run({ options }) {
      const [{ listSettlements }, { requireAccount }] = await Promise.all([
        import('../../src/settlements/list-settlements.js'),
        import('../../src/accounts/require-account.js'),
      ]);
      const found = await listSettlements({
        statuses: options.status === 'open' ? ['pending', 'processing'] : [options.status],
        ...(options.account && { accountId: (await requireAccount(options.account))._id }),
        limit: options.limit,
      });
      const rows = found.map(present);
      const cells = rows.map((row) => [
        row.id,
        rupiah(row.amount),
        rupiah(row.net_amount),
        `${row.bank_code} ${row.account_number}`,
        status(row.needs_approval ? 'approval' : row.status),
        time(row.created_at),
      ]);
      const text = table(['id', 'amount', 'to pay', 'bank', 'status', 'created'], cells, [1, 2]);
      return { data: rows, text: rows.length === 0 ? 'No settlement fits.' : text };
    },
  });
}

function registerApprove(settlement: Command): void {
  defineCommand(settlement, {
    usage: 'approve <id>',
    summary: 'Let a settlement to a new bank account go on',
    details: 'Only with SETTLEMENT_NEW_ACCOUNT_REVIEW. Check that the account belongs to the seller.',
    examples: ['settlement approve 01a1fde5d07770f0be10a241618d0695 --reason "KTP matches the account name"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const { approveSettlement } = await import('../../src/settlements/pay-out.js');
      return finished(await approveSettlement(arg('id'), by), 'Approved; it is on its way to be paid.');
    },
  });
}

function registerComplete(settlement: Command): void {
  defineCommand(settlement, {
    usage: 'complete <id>',
    summary: 'Say that a settlement was paid at the bank (PAYOUT_MODE=manual)',
    details: 'The held money leaves the seller and settlement.completed is sent. Twice changes nothing more.',
    examples: ['settlement complete 01a1fde5d07770f0be10a241618d0695 --reason "BCA transfer 4711"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const { completeSettlement } = await import('../../src/settlements/pay-out.js');
      const completed = await completeSettlement(arg('id'), by);
      return finished(completed, `It is ${completed.status}; ${rupiah(completed.netAmount)} paid.`);
    },
  });
}

function registerFail(settlement: Command): void {
  defineCommand<{ reason: string }>(settlement, {
    usage: 'fail <id>',
    summary: 'Give a settlement back: the held money returns to the balance',
    details: 'The reason goes to the seller, in settlement.failed. Twice changes nothing more.',
    examples: ['settlement fail 01a1fde5d07770f0be10a241618d0695 --reason "The bank account does not exist"'],
    options: [reasonOption()],
    async run({ arg, by, options }) {
      const { failSettlement } = await import('../../src/settlements/pay-out.js');
      const failed = await failSettlement(arg('id'), options.reason, by);
      return finished(failed, `It is ${failed.status}.`);
    },
  });
}

function finished(settlement: Settlement, text: string) {
  return { data: present(settlement), text };
}

function present(settlement: Settlement) {
  return {
    id: settlement._id,
    account_id: settlement.accountId,
    ref_id: settlement.refId,
    amount: settlement.amount,
    fee: settlement.fee,
    net_amount: settlement.netAmount,
    bank_code: settlement.bankAccount.bankCode,
    account_number: settlement.bankAccount.accountNumber,
    account_name: settlement.bankAccount.accountName,
    status: settlement.status,
    needs_approval: settlement.needsApproval,
    reason: settlement.reason,
    created_at: settlement.createdAt,
  };
}
