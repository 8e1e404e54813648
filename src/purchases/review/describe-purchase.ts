import { lookUp } from '../../shared/collections.js';
import { type AuditEntry, AuditModel } from '../../audit/audit.model.js';
import { type Journal, JournalModel } from '../../money/journals/journal.model.js';
import { type Delivery, DeliveryModel } from '../../webhooks/deliver/delivery.model.js';
import type { Order } from '../order.model.js';
import { type ReconciliationCase, CaseModel } from '../case.model.js';
import { formatToken, parsePlnToken } from '../pln-token.js';
import { type Purchase, purchases } from '../purchase.model.js';
import { wasSent, getAcceptedDecisions, type ReviewOutcome } from './review-decisions.js';
import { requireAccount, findUsernames } from '../../accounts/find-account.js';
import { findMajorityHeld } from '../../database/find-confirmed.js';
import { NotFoundError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { findOrders } from '../fulfil/orders.js';
import { findPurchase } from '../find-purchase.js';

export interface TimelineEntry {
  at: Date;
  what: 'state' | 'journal' | 'attempt' | 'delivery' | 'case' | 'operator';
  detail: string;
}

/** Everything that is stored about one purchase. */
export interface PurchaseRecords {
  purchase: Purchase;
  /** Usernames by account id, of the buyer and of every seller that was tried. */
  usernames: Record<string, string>;
  journals: Journal[];
  orders: Order[];
  deliveries: Delivery[];
  cases: ReconciliationCase[];
  audit: AuditEntry[];
}

/** Builds the timeline of a purchase in chronological order. */
export function buildTimeline(known: PurchaseRecords): TimelineEntry[] {
  const nameOf = (id: string) => lookUp(known.usernames, id) ?? id;
  return [
    ...buildStateEntries(known.purchase, nameOf),
    ...known.journals.map((journal) => buildJournalEntry(journal, nameOf)),
    ...known.orders.flatMap((order) => buildOrderEntries(order, nameOf)),
    ...known.deliveries.flatMap((delivery) => buildDeliveryEntries(delivery, nameOf)),
    ...known.cases.flatMap(buildCaseEntries),
    ...known.audit.map((entry) => ({
      at: entry.at,
      what: 'operator' as const,
      detail: `${entry.actor}: ${entry.action}${entry.reason ? ` (${entry.reason})` : ''}`,
    })),
  ].sort((a, b) => a.at.getTime() - b.at.getTime());
}

type GetUsername = (id: string) => string;

function buildStateEntries(purchase: Purchase, nameOf: GetUsername): TimelineEntry[] {
  const { productCode, customerNumber, accountId, surface, refId } = purchase;
  const bought = `${productCode} for ${customerNumber}, ${nameOf(accountId)} (${surface}), ref_id ${refId}`;
  const entries: TimelineEntry[] = [
    { at: purchase.createdAt, what: 'state', detail: `PENDING: accepted ${bought}` },
  ];
  if (purchase.reviewSince) {
    entries.push({
      at: purchase.reviewSince,
      what: 'state',
      detail: `put under review: ${purchase.reviewReason ?? 'the operator decides'}`,
    });
  }
  if (purchase.finalAt) {
    const why = purchase.message ? `: ${purchase.message}` : '';
    entries.push({ at: purchase.finalAt, what: 'state', detail: `${purchase.status}${why}` });
  }
  return entries;
}

function buildJournalEntry(journal: Journal, nameOf: GetUsername): TimelineEntry {
  const lines = journal.lines
    .filter((line) => line.amount !== 0)
    .map(
      (line) => `${formatLedgerAccount(line.account, nameOf)} ${line.amount > 0 ? '+' : ''}${line.amount}`,
    );
  const balance =
    journal.balanceAfter === null
      ? ''
      : ` -> balance ${journal.balanceAfter} (seq ${journal.walletSeq ?? 0})`;
  return { at: journal.createdAt, what: 'journal', detail: `${journal.kind}: ${lines.join(', ')}${balance}` };
}

/** Replaces the account id in a ledger account by the username. */
function formatLedgerAccount(account: string, nameOf: GetUsername): string {
  const [kind = '', id = ''] = account.split(':');
  return `${kind}:${nameOf(id)}`;
}

function buildOrderEntries(order: Order, nameOf: GetUsername): TimelineEntry[] {
  const name = `attempt ${order.n} at ${nameOf(order.sellerId)} (${order.providerKind})`;
  const answer = [order.code, order.message].filter((each) => each !== null).join(' ');
  const entries: TimelineEntry[] = [
    { at: order.createdAt, what: 'attempt', detail: `${name} prepared, price ${order.offerPrice}` },
  ];
  if (order.sentAt) {
    const how = wasSent(order) ? 'sent' : 'to be sent';
    entries.push({ at: order.sentAt, what: 'attempt', detail: `${name} ${how} as ${order._id}` });
  }
  if (order.lastCheckAt) {
    const times = `${order.checks} status check${order.checks === 1 ? '' : 's'}`;
    entries.push({ at: order.lastCheckAt, what: 'attempt', detail: `${name}: last of ${times}` });
  }
  if (order.status !== 'SENT') {
    const sn = order.serialNumber ? `, SN ${formatSerialNumber(order.serialNumber)}` : '';
    entries.push({
      at: order.updatedAt,
      what: 'attempt',
      detail: `${name} ${order.status}: ${answer}${sn}`,
    });
  }
  return entries;
}

function formatSerialNumber(serialNumber: string): string {
  const pln = parsePlnToken(serialNumber);
  return pln
    ? `${serialNumber} (token ${formatToken({ subcategory: 'pln', serialNumber: pln.token })}, ${pln.customerName}, ${pln.tariff} ${pln.power}, ${pln.kwh} kWh)`
    : serialNumber;
}

function buildDeliveryEntries(delivery: Delivery, nameOf: GetUsername): TimelineEntry[] {
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

function buildCaseEntries(found: ReconciliationCase): TimelineEntry[] {
  const opened: TimelineEntry = {
    at: found.createdAt,
    what: 'case',
    detail: `${found.kind} opened: ${found.detail}`,
  };
  return found.resolvedAt
    ? [opened, { at: found.resolvedAt, what: 'case', detail: `${found.kind} resolved` }]
    : [opened];
}

/** The records of one purchase with its timeline, for operators. */
export interface PurchaseDescription extends PurchaseRecords {
  timeline: TimelineEntry[];
  /** Decisions that the operator can take now. Empty if the purchase is not under review. */
  decisions: ReviewOutcome[];
}

/**
 * Loads everything stored about a purchase.
 * @param key The purchase's id, or the client's ref_id if `account` (a username or id) is given.
 * @throws NotFoundError if there is no such purchase.
 */
export async function describePurchase(key: string, account?: string): Promise<PurchaseDescription> {
  const purchase = await findDescribedPurchase(key, account);
  const { _id: id, accountId } = purchase;
  const [journals, orders, deliveries, cases, audit] = await Promise.all([
    JournalModel.find({ accountId, subjectId: id }).sort({ _id: 1 }).lean<Journal[]>(),
    findOrders(purchase),
    DeliveryModel.find({ accountId: { $in: [accountId, purchase.sellerId ?? accountId] }, orderKey: id })
      .sort({ _id: 1 })
      .lean<Delivery[]>(),
    CaseModel.find({ transactionId: id }).lean<ReconciliationCase[]>(),
    AuditModel.find({ 'subject.kind': 'transaction', 'subject.id': id }).sort({ at: 1 }).lean<AuditEntry[]>(),
  ]);
  const usernames = await findUsernames([
    purchase.accountId,
    ...orders.map((each) => each.sellerId),
    ...deliveries.map((each) => each.accountId),
  ]);
  const known = { purchase, usernames, journals, orders, deliveries, cases, audit };
  const decisions = purchase.reviewSince === null ? [] : getAcceptedDecisions(purchase, orders);
  return { ...known, timeline: buildTimeline(known), decisions };
}

async function findDescribedPurchase(key: string, account: string | undefined): Promise<Purchase> {
  if (account !== undefined) {
    return findPurchase((await requireAccount(account))._id, key);
  }
  const [found] = await findMajorityHeld(purchases, { _id: key });
  if (!found) {
    throw new NotFoundError(
      asWritten(`There is no transaction ${key}. To find a client's ref_id, give the client: --account`),
    );
  }
  return found;
}
