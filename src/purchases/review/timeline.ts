import type { AuditEntry } from '../../audit/audit.model.js';
import type { Journal } from '../../money/journals/journal.model.js';
import type { Delivery } from '../../webhooks/delivery.model.js';
import type { Attempt } from '../order.model.js';
import type { ReconciliationCase } from '../case.model.js';
import { parsePlnToken } from '../pln-token.js';
import type { Transaction } from '../purchase.model.js';

export interface TimelineEntry {
  at: Date;
  what: 'state' | 'journal' | 'attempt' | 'delivery' | 'case' | 'operator';
  detail: string;
}

interface Known {
  transaction: Transaction;
  usernames: Record<string, string>;
  journals: Journal[];
  attempts: Attempt[];
  deliveries: Delivery[];
  cases: ReconciliationCase[];
  audit: AuditEntry[];
}

/** What happened to a purchase, in order, in words. */
export function timelineOf(known: Known): TimelineEntry[] {
  const nameOf = (id: string) => known.usernames[id] ?? id;
  return [
    ...stateEntries(known.transaction, nameOf),
    ...known.journals.map((journal) => journalEntry(journal, nameOf)),
    ...known.attempts.flatMap((attempt) => attemptEntries(attempt, nameOf)),
    ...known.deliveries.flatMap((delivery) => deliveryEntries(delivery, nameOf)),
    ...known.cases.flatMap(caseEntries),
    ...known.audit.map((entry) => ({
      at: entry.at,
      what: 'operator' as const,
      detail: `${entry.actor}: ${entry.action}${entry.reason ? ` (${entry.reason})` : ''}`,
    })),
  ].sort((a, b) => a.at.getTime() - b.at.getTime());
}

type NameOf = (id: string) => string;

function stateEntries(transaction: Transaction, nameOf: NameOf): TimelineEntry[] {
  const { productCode, customerNumber, accountId, surface, refId } = transaction;
  const bought = `${productCode} for ${customerNumber}, ${nameOf(accountId)} (${surface}), ref_id ${refId}`;
  const entries: TimelineEntry[] = [
    { at: transaction.createdAt, what: 'state', detail: `PENDING: accepted ${bought}` },
  ];
  if (transaction.reviewSince) {
    entries.push({
      at: transaction.reviewSince,
      what: 'state',
      detail: 'put under review: the operator decides',
    });
  }
  if (transaction.finalAt) {
    const why = transaction.message ? `: ${transaction.message}` : '';
    entries.push({ at: transaction.finalAt, what: 'state', detail: `${transaction.status}${why}` });
  }
  return entries;
}

function journalEntry(journal: Journal, nameOf: NameOf): TimelineEntry {
  const lines = journal.lines
    .filter((line) => line.amount !== 0)
    .map((line) => `${named(line.account, nameOf)} ${line.amount > 0 ? '+' : ''}${line.amount}`);
  const balance =
    journal.balanceAfter === null
      ? ''
      : ` -> balance ${journal.balanceAfter} (seq ${journal.walletSeq ?? 0})`;
  return { at: journal.createdAt, what: 'journal', detail: `${journal.kind}: ${lines.join(', ')}${balance}` };
}

/** `wallet:<id>` with the username for the id. */
function named(account: string, nameOf: NameOf): string {
  const [kind = '', id = ''] = account.split(':');
  return `${kind}:${nameOf(id)}`;
}

function attemptEntries(attempt: Attempt, nameOf: NameOf): TimelineEntry[] {
  const order = `attempt ${attempt.n} at ${nameOf(attempt.sellerId)} (${attempt.providerKind})`;
  const answer = [attempt.code, attempt.message].filter((each) => each !== null).join(' ');
  const entries: TimelineEntry[] = [
    { at: attempt.createdAt, what: 'attempt', detail: `${order} prepared, price ${attempt.offerPrice}` },
  ];
  if (attempt.sentAt) {
    entries.push({ at: attempt.sentAt, what: 'attempt', detail: `${order} sent as ${attempt._id}` });
  }
  if (attempt.lastCheckAt) {
    const times = `${attempt.checks} status check${attempt.checks === 1 ? '' : 's'}`;
    entries.push({ at: attempt.lastCheckAt, what: 'attempt', detail: `${order}: last of ${times}` });
  }
  if (attempt.status !== 'PREPARED' && attempt.status !== 'SENT') {
    const sn = attempt.serialNumber ? `, SN ${inWords(attempt.serialNumber)}` : '';
    entries.push({
      at: attempt.updatedAt,
      what: 'attempt',
      detail: `${order} ${attempt.status}: ${answer}${sn}`,
    });
  }
  return entries;
}

function inWords(serialNumber: string): string {
  const pln = parsePlnToken(serialNumber);
  return pln
    ? `${serialNumber} (token ${pln.token}, ${pln.customerName}, ${pln.tariff} ${pln.power}, ${pln.kwh} kWh)`
    : serialNumber;
}

function deliveryEntries(delivery: Delivery, nameOf: NameOf): TimelineEntry[] {
  const what = `${delivery.event} to ${nameOf(delivery.accountId)}`;
  const ended =
    delivery.state !== 'due' && delivery.state !== 'delivered' && delivery.settledAt
      ? [{ at: delivery.settledAt, what: 'delivery' as const, detail: `${what}: ${delivery.state}` }]
      : [];
  return [
    ...delivery.attempts.map((attempt) => ({
      at: attempt.at,
      what: 'delivery' as const,
      detail: `${what}, attempt ${attempt.n}: ${attempt.error ?? `HTTP ${attempt.httpStatus ?? 0}, ack ${attempt.ack ?? 'none'}`} (${Math.round(attempt.durationMs)} ms)`,
    })),
    ...ended,
  ];
}

function caseEntries(found: ReconciliationCase): TimelineEntry[] {
  const opened: TimelineEntry = {
    at: found.createdAt,
    what: 'case',
    detail: `${found.kind} opened: ${found.detail}`,
  };
  return found.resolvedAt
    ? [opened, { at: found.resolvedAt, what: 'case', detail: `${found.kind} resolved` }]
    : [opened];
}
