import { requireAccount } from '../../accounts/require-account.js';
import { findUsernames } from '../../accounts/usernames-of.js';
import { AuditModel, type AuditEntry } from '../../audit/audit.model.js';
import { findHeld } from '../../database/find-confirmed.js';
import { NotFoundError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { JournalModel, type Journal } from '../../money/journals/journal.model.js';
import { DeliveryModel, type Delivery } from '../../webhooks/delivery.model.js';
import { CaseModel, type ReconciliationCase } from '../case.model.js';
import { findOrders } from '../fulfil/orders.js';
import { findPurchase } from '../find-purchase.js';
import { getAcceptedDecisions, type ReviewOutcome } from './possible-decisions.js';
import { buildTimeline, type PurchaseRecords, type TimelineEntry } from './timeline.js';
import { purchases, type Purchase } from '../purchase.model.js';

/** All that is known about one purchase, for the operator. */
export interface PurchaseDescription extends PurchaseRecords {
  timeline: TimelineEntry[];
  /** What the operator can decide now; empty where it does not wait for that. */
  decisions: ReviewOutcome[];
}

/**
 * @param key A purchase's id, or (with `account`, a username or id) the client's ref_id.
 * @throws NotFoundError if there is none.
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
  const [found] = await findHeld(purchases, { _id: key });
  if (!found) {
    throw new NotFoundError(
      asWritten(`There is no transaction ${key}. For a client's ref_id, name the client: --account`),
    );
  }
  return found;
}
