import { Option, type Command } from 'commander';
import type { Adjustment } from '../../src/adjustments/adjustment.model.js';
import { defineCommand, defineGroup } from './define-command.js';
import { listText, rupiah, type Column } from './format.js';
import { limitOption, reasonOption } from './options.js';
import { UsageError } from './usage-error.js';

/** `topup adjust …`: manual corrections of wallets. */
export function registerAdjust(program: Command): void {
  const group = defineGroup(
    program,
    'adjust',
    'Correct a wallet manually, with a second operator for large amounts',
  );
  registerMake(group);
  registerList(group);
  registerApprove(group);
  registerReject(group);
}

function registerMake(group: Command): void {
  defineCommand(group, {
    usage: 'make <username> <amount>',
    action: 'adjustment.make',
    isDefault: true,
    summary: 'Credit a wallet, or debit it with a negative amount; `make` is optional',
    details:
      'The balance never falls below zero. A second operator must approve it (topup adjust approve) from ADJUSTMENT_APPROVAL_FROM rupiah on. Your unapproved adjustments of the account in the last 24 hours count too.\nEach call makes a new adjustment: after an unclear outcome, check topup adjust list first.',
    examples: [
      'adjust warung-sari 50000 --reason "transfer of 20 Nov without ref_id"',
      'adjust warung-sari -50000 --reason "credited twice, ticket 90"',
    ],
    options: [reasonOption()],
    async run({ arg, by }) {
      const [{ requestAdjustment }, { requireAccount }] = await Promise.all([
        import('../../src/adjustments/request-adjustment.js'),
        import('../../src/accounts/find-account.js'),
      ]);
      const amount = wholeRupiah(arg('amount'));
      const made = await requestAdjustment({ account: await requireAccount(arg('username')), amount }, by);
      return {
        data: present(made),
        text:
          made.status === 'pending'
            ? `It needs the approval of another operator: topup adjust approve ${made._id} --as <operator> --reason …`
            : formatBalance(made),
      };
    },
  });
}

function wholeRupiah(value: string): number {
  if (!/^-?\d{1,15}$/.test(value)) {
    throw new UsageError('amount must be whole rupiah, such as 50000 or -50000.');
  }
  return Number(value);
}

function registerList(group: Command): void {
  defineCommand<{ status?: Adjustment['status'] | 'all'; account?: string; limit: number }>(group, {
    usage: 'list',
    action: 'adjustment.look',
    summary: 'List adjustments, newest first; by default those that wait for a second operator',
    examples: ['adjust list', 'adjust list --account warung-sari --status all'],
    options: [
      new Option('--status <status>', 'status (default: pending, or all with --account)').choices([
        'pending',
        'completed',
        'rejected',
        'all',
      ]),
      new Option('--account <username>', 'only adjustments of one account'),
      limitOption(),
    ],
    async run({ options }) {
      const [{ listAdjustments }, { requireAccount }, { findUsernames }] = await Promise.all([
        import('../../src/adjustments/list-adjustments.js'),
        import('../../src/accounts/find-account.js'),
        import('../../src/accounts/find-account.js'),
      ]);
      const wanted = options.status ?? (options.account === undefined ? 'pending' : 'all');
      const found = await listAdjustments({
        ...(wanted !== 'all' && { status: wanted }),
        ...(options.account !== undefined && { accountId: (await requireAccount(options.account))._id }),
        limit: options.limit,
      });
      const usernames = await findUsernames(found.map(({ accountId }) => accountId));
      const data = found.map((each) => ({ ...present(each), username: usernames[each.accountId] ?? '' }));
      const columns: Column<(typeof data)[number]>[] = [
        'id',
        ['account', (row) => row.username],
        'amount',
        'status',
        ['requested by', (row) => row.requested_by],
        'decided_by',
        'created_at',
        ['why', (row) => row.reason],
      ];
      return { data, text: listText(data, { columns, empty: 'No adjustment matches.' }) };
    },
  });
}

function registerApprove(group: Command): void {
  defineCommand(group, {
    usage: 'approve <id>',
    action: 'adjustment.make',
    summary: 'Approve an adjustment that another operator has requested',
    details: 'You cannot approve your own request. Repeating it changes nothing.',
    examples: ['adjust approve 01a1fde5d07770f0be10a241618d0695 --as dewi --reason "seen on the statement"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const { approveAdjustment } = await import('../../src/adjustments/decide-adjustment.js');
      const { adjustment, changed } = await approveAdjustment(arg('id'), by);
      const text = changed ? formatBalance(adjustment) : 'Nothing changed: it was already approved.';
      return { data: { ...present(adjustment), changed }, text };
    },
  });
}

function registerReject(group: Command): void {
  defineCommand(group, {
    usage: 'reject <id>',
    action: 'adjustment.make',
    summary: 'Reject a pending adjustment',
    details: 'You may reject your own request. Repeating it changes nothing.',
    examples: ['adjust reject 01a1fde5d07770f0be10a241618d0695 --reason "wrong account"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const { rejectAdjustment } = await import('../../src/adjustments/decide-adjustment.js');
      const { adjustment, changed } = await rejectAdjustment(arg('id'), by);
      const text = changed ? 'Rejected.' : 'Nothing changed: it was already rejected.';
      return { data: { ...present(adjustment), changed }, text };
    },
  });
}

function formatBalance({ amount, balanceAfter }: Adjustment): string {
  return `${amount > 0 ? 'Credited' : 'Debited'} ${rupiah(Math.abs(amount))}; the balance is now ${rupiah(balanceAfter ?? 0)}.`;
}

function present(adjustment: Adjustment) {
  return {
    id: adjustment._id,
    account_id: adjustment.accountId,
    amount: adjustment.amount,
    reason: adjustment.reason,
    status: adjustment.status,
    requested_by: adjustment.requestedBy,
    decided_by: adjustment.decidedBy,
    balance_after: adjustment.balanceAfter,
    created_at: adjustment.createdAt,
    decided_at: adjustment.decidedAt,
  };
}
