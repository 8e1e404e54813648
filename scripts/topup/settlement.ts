import { Option, type Command } from 'commander';
import type { Settlement, SettlementStatus } from '../../src/settlements/settlement.model.js';
import { defineCommand, defineGroup } from './define-command.js';
import { listText, rupiah, status, time, type Column } from './format.js';
import { limitOption, optionalReasonOption, reasonOption, shortText } from './options.js';

type StatusChoice = 'open' | SettlementStatus;

/** `topup settlement …`: withdrawals of sellers. */
export function registerSettlement(program: Command): void {
  const settlement = defineGroup(program, 'settlement', 'Withdrawals of sellers');
  registerList(settlement);
  registerApprove(settlement);
  registerClaim(settlement);
  registerComplete(settlement);
  registerFail(settlement);
}

function registerList(settlement: Command): void {
  defineCommand<{ status: StatusChoice; account?: string; limit: number }>(settlement, {
    usage: 'list',
    action: 'settlement.look',
    summary: 'List settlements, by default unfinished ones',
    details:
      'Oldest first; finished settlements newest first, unless --account is given. "approval" means that it waits for `settlement approve`. "wallet below zero" means that the seller owes money: do not pay it.',
    examples: ['settlement list', 'settlement list --account seller --status completed'],
    options: [
      new Option('--status <status>', 'only this status')
        .choices(['open', 'pending', 'processing', 'completed', 'failed'])
        .default('open'),
      new Option('--account <username>', 'only settlements of one account'),
      limitOption(),
    ],
    async run({ options }) {
      const [{ listSettlements }, { findAccountsBelowZero }, { requireAccount, findUsernames }] =
        await Promise.all([
          import('../../src/settlements/find-settlement.js'),
          import('../../src/settlements/wallet-below-zero.js'),
          import('../../src/accounts/find-account.js'),
        ]);
      const found = await listSettlements({
        statuses: options.status === 'open' ? ['pending', 'processing'] : [options.status],
        ...(options.account && { accountId: (await requireAccount(options.account))._id }),
        limit: options.limit,
      });
      const usernames = await findUsernames(found.map(({ accountId }) => accountId));
      const open = found.filter(({ finalAt }) => finalAt === null);
      const belowZero = await findAccountsBelowZero(open.map(({ accountId }) => accountId));
      const rows = found.map((each) => ({
        ...present(each),
        username: usernames[each.accountId] ?? '',
        wallet_below_zero: each.finalAt === null && belowZero.has(each.accountId),
      }));
      const columns: Column<(typeof rows)[number]>[] = [
        'id',
        ['seller', (row) => row.username],
        'amount',
        ['to pay', (row) => row.net_amount],
        ['bank and holder', (row) => `${row.bank_code} ${row.account_number} ${row.account_name}`],
        [
          'status',
          (row) => formatSettlementStatus(row) + (row.wallet_below_zero ? ', wallet below zero' : ''),
        ],
        ['claimed', (row) => row.claimed_by && `${row.claimed_by} ${time(row.claimed_at)}`],
        'bank_reference',
        'created_at',
      ];
      return { data: rows, text: listText(rows, { columns, empty: 'No settlement matches.' }) };
    },
  });
}

function formatSettlementStatus({
  needs_approval,
  review_reason,
  status: word,
}: ReturnType<typeof present>): string {
  return needs_approval ? `${status('approval')} (${review_reason ?? ''})` : status(word);
}

function registerApprove(settlement: Command): void {
  defineCommand(settlement, {
    usage: 'approve <id>',
    action: 'settlement.decide',
    summary: 'Approve a settlement that is waiting for approval',
    details:
      'new-bank-account: check that the bank account belongs to the seller. recent-change: the key, secret, URL or\nallowlist of the seller changed within a day; confirm with the seller through a known contact that they did it.',
    examples: ['settlement approve 01a1fde5d07770f0be10a241618d0695 --reason "KTP matches the account name"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const { approveSettlement } = await import('../../src/settlements/pay-out.js');
      return formatSettlement(await approveSettlement(arg('id'), by), 'Approved. It is being paid.');
    },
  });
}

function registerClaim(settlement: Command): void {
  defineCommand<{ takeOver?: boolean }>(settlement, {
    usage: 'claim <id>',
    action: 'settlement.decide',
    summary: 'Claim a settlement to pay it at the bank, so that no other operator pays it',
    details:
      'After that only you can complete or fail it. Claim first, then pay, then run `settlement complete`. --take-over takes\nit from another operator: ask first whether it is paid, and give the reason.',
    examples: [
      'settlement claim 01a1fde5d07770f0be10a241618d0695',
      'settlement claim 01a1fde5d07770f0be10a241618d0695 --as dewi --take-over --reason "Budi is ill, not paid"',
    ],
    options: [new Option('--take-over', 'take it over, with a reason'), optionalReasonOption()],
    async run({ arg, by, options }) {
      const { claimSettlement } = await import('../../src/settlements/claim-settlement.js');
      const {
        settlement: claimed,
        changed,
        mayBePaid,
      } = await claimSettlement(arg('id'), by, {
        takeOver: options.takeOver === true,
      });
      const { bankCode, accountNumber, accountName } = claimed.bankAccount;
      if (!mayBePaid) {
        return {
          data: { ...present(claimed), changed },
          text: `You have taken it over. Do not pay it: the wallet of its seller is below zero. To return its amount to the wallet: topup settlement fail ${claimed._id} --reason …`,
        };
      }
      const pay = `Pay ${rupiah(claimed.netAmount)} to ${bankCode} ${accountNumber} ${accountName}, then: topup settlement complete ${claimed._id} --reason …`;
      return {
        data: { ...present(claimed), changed },
        text: changed ? pay : `Nothing changed: you have already claimed it. ${pay}`,
      };
    },
  });
}

function registerComplete(settlement: Command): void {
  defineCommand<{ bankReference?: string; sharedReference?: boolean }>(settlement, {
    usage: 'complete <id>',
    action: 'settlement.decide',
    summary: 'Mark a settlement as paid at the bank (PAYOUT_MODE=manual)',
    details:
      'Only its claimer may do this (topup settlement claim). The held money leaves the seller, and settlement.completed\nis sent. Repeating it changes nothing; with another reference it is refused, and the audit log has both.\nIf one transfer paid several settlements, confirm it with --shared-reference.',
    examples: [
      'settlement complete 01a1fde5d07770f0be10a241618d0695 --bank-reference "BCA 4711" --reason "paid today"',
    ],
    options: [
      new Option('--bank-reference <text>', 'reference of the payment at the bank').argParser(shortText),
      new Option('--shared-reference', 'confirm that one transfer paid this settlement and others'),
      reasonOption(),
    ],
    async run({ arg, by, options: { bankReference, sharedReference = false } }) {
      const { completeSettlement } = await import('../../src/settlements/pay-out.js');
      const completed = await completeSettlement(arg('id'), by, {
        ...(bankReference !== undefined && { bankReference }),
        sharedReference,
      });
      const who = completed.claimedBy === null ? '' : ` by ${completed.claimedBy}`;
      return formatSettlement(
        completed,
        `It is ${completed.status}; ${rupiah(completed.netAmount)} paid${who}.`,
      );
    },
  });
}

function registerFail(settlement: Command): void {
  defineCommand<{ reason: string }>(settlement, {
    usage: 'fail <id>',
    action: 'settlement.decide',
    summary: 'Fail a settlement: the held money returns to the balance',
    details:
      'The seller gets the reason in settlement.failed. Only the claimer can fail a claimed settlement. Repeating it\nchanges nothing.',
    examples: ['settlement fail 01a1fde5d07770f0be10a241618d0695 --reason "The bank account does not exist"'],
    options: [reasonOption()],
    async run({ arg, by, options }) {
      const { failSettlement } = await import('../../src/settlements/pay-out.js');
      const failed = await failSettlement(arg('id'), options.reason, by);
      return formatSettlement(failed, `It is ${failed.status}.`);
    },
  });
}

function formatSettlement(settlement: Settlement, text: string) {
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
    review_reason: settlement.reviewReason ?? null,
    claimed_by: settlement.claimedBy,
    claimed_at: settlement.claimedAt,
    bank_reference: settlement.status === 'completed' ? (settlement.bankReference ?? null) : null,
    reason: settlement.reason,
    created_at: settlement.createdAt,
  };
}
