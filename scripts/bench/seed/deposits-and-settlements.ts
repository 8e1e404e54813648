/** Deposits of buyers with their bank lines, and settlements of sellers with their payouts. */
import { auditEntries, type AuditSubject } from '../../../src/audit/audit.model.js';
import { buildAuditEntryInsert } from '../../../src/audit/record-audit.js';
import { toInt64 } from '../../../src/database/typed-collection.js';
import { BankLineModel } from '../../../src/deposits/bank/bank-line.model.js';
import { deposits, toStored, type Deposit } from '../../../src/deposits/deposit.model.js';
import { buildMovementLines } from '../../../src/money/journals/new-journal.js';
import { settlements, toStored as settlementToStored } from '../../../src/settlements/settlement.model.js';
import { formatBusinessDay } from '../../../src/shared/business-time.js';
import type { Seller } from './people.js';
import type { SeedContext } from './write-sale.js';

/** Adds a completed deposit in rupiah, as if the deposit call itself had credited it. */
export function creditDeposit(
  { writer, books, chance }: SeedContext,
  { accountId, refId, amount, atMs }: { accountId: string; refId: string; amount: number; atMs: number },
): Deposit {
  const _id = chance.idAt(atMs);
  const lines = buildMovementLines(amount, { from: 'platform:clearing', to: `wallet:${accountId}` });
  const balanceAfter = books.post({
    accountId,
    kind: 'deposit',
    subjectId: _id,
    atMs,
    balance: amount,
    lines,
  });
  const at = new Date(atMs);
  const deposit: Deposit = {
    _id,
    accountId,
    refId,
    amount,
    status: 'completed',
    balanceBefore: balanceAfter - amount,
    balanceAfter,
    createdAt: at,
    completedAt: at,
  };
  writer.add(deposits.collectionName, toStored(deposit));
  return deposit;
}

/** Adds a deposit that is pending or was rejected. */
export function addOpenOrRejectedDeposit(
  { writer, books, chance }: SeedContext,
  {
    accountId,
    status,
    amount,
    atMs,
  }: { accountId: string; status: 'pending' | 'rejected'; amount: number; atMs: number },
): void {
  const _id = chance.idAt(atMs);
  const balance = books.balanceOf(accountId);
  const row = { _id, accountId, refId: `deposit-${_id}`, amount, status, createdAt: new Date(atMs) };
  const balances = { balanceBefore: balance, balanceAfter: balance, completedAt: null };
  writer.add(deposits.collectionName, toStored({ ...row, ...balances }));
}

/** @param line.deposit The deposit that the line pays. Null for a line without a deposit. */
export function bankLine(
  { writer, chance }: SeedContext,
  { deposit, atMs, isAside }: { deposit: Deposit | null; atMs: number; isAside: boolean },
): void {
  const _id = chance.idAt(atMs);
  const decided = { at: new Date(atMs), actor: 'operator:bench', reason: 'as the bank says' };
  writer.add(BankLineModel.collection.collectionName, {
    _id,
    key: _id,
    day: formatBusinessDay(new Date(atMs)),
    description: `TRSF E-BANKING CR ${_id.slice(-8)}`,
    amount: toInt64(deposit?.amount ?? 10_000 * (1 + chance.below(500))),
    status: deposit ? 'used' : isAside ? 'set-aside' : 'open',
    depositId: deposit?._id ?? null,
    file: 'mutasi.csv',
    createdAt: new Date(atMs),
    decided: deposit || isAside ? decided : null,
  });
}

/** Fee of a settlement, in rupiah. */
const fee = 2_500;

/** Pays out one percent of the seller's balance. */
export function addSettlement(
  desk: SeedContext,
  { seller, status, atMs }: { seller: Seller; status: 'processing' | 'completed' | 'failed'; atMs: number },
): void {
  const { writer, books, chance } = desk;
  const { id: accountId, username } = seller;
  const amount = Math.floor(books.balanceOf(accountId) / 100);
  if (amount <= fee) {
    return;
  }
  const _id = chance.idAt(atMs);
  const [wallet, held] = [`wallet:${accountId}`, `held:${accountId}`] as const;
  const of = { accountId, subjectId: _id };
  books.post({
    ...of,
    kind: 'settlement-request',
    atMs,
    balance: -amount,
    held: amount,
    lines: buildMovementLines(amount, { from: wallet, to: held }),
  });
  const endMs = atMs + 60_000;
  const isOpen = status === 'processing';
  const ended = { ...of, atMs: endMs, held: -amount };
  if (status === 'completed') {
    books.post({
      ...ended,
      kind: 'settlement-completed',
      balance: 0,
      lines: [
        { account: held, amount: -amount },
        { account: 'platform:bank', amount: amount - fee },
        { account: 'platform:revenue', amount: fee },
      ],
    });
  } else if (status === 'failed') {
    books.post({
      ...ended,
      kind: 'settlement-failed',
      balance: amount,
      lines: buildMovementLines(amount, { from: held, to: wallet }),
    });
  }
  writer.add(
    settlements.collectionName,
    settlementToStored({
      _id,
      accountId,
      refId: null,
      amount,
      fee,
      netAmount: amount - fee,
      status,
      bankAccount: { bankCode: '014', accountNumber: '1234567890', accountName: username },
      needsApproval: false,
      byHand: true,
      claimedBy: 'operator:bench',
      claimedAt: new Date(atMs),
      reason: status === 'failed' ? 'Refused by the bank' : null,
      epoch: 0,
      nextActionAt: null,
      estimatedCompletion: new Date(endMs),
      createdAt: new Date(atMs),
      finalAt: isOpen ? null : new Date(endMs),
    }),
  );
  if (!isOpen) {
    addAuditEntry(desk, endMs, { action: `settlement.${status}`, subject: { kind: 'settlement', id: _id } });
  }
}

/** Adds an audit entry with a past time. */
export function addAuditEntry(
  { writer, chance }: Pick<SeedContext, 'writer' | 'chance'>,
  atMs: number,
  entry: { actor?: string; action: string; subject: AuditSubject; before?: unknown; after?: unknown },
): void {
  const { document } = buildAuditEntryInsert({ actor: 'operator:bench', reason: 'a day of work', ...entry });
  writer.add(auditEntries.collectionName, { ...document, _id: chance.idAt(atMs), at: new Date(atMs) });
}
