import { requireAccount } from '../../accounts/require-account.js';
import { AccountModel } from '../../accounts/account.model.js';
import { AuditModel, type AuditEntry } from '../../audit/audit.model.js';
import { NotFoundError } from '../../shared/errors.js';
import { JournalModel, type Journal } from '../../money/journals/journal.model.js';
import { DeliveryModel, type Delivery } from '../../webhooks/delivery.model.js';
import { OrderModel, type Order } from '../order.model.js';
import { CaseModel, type ReconciliationCase } from '../case.model.js';
import { findPurchase } from '../find-purchase.js';
import { timelineOf, type PurchaseRecords, type TimelineEntry } from './timeline.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

/** All that is known about one purchase, for the operator. */
export interface PurchaseDescription extends PurchaseRecords {
  timeline: TimelineEntry[];
}

/**
 * @param key A purchase's id, or (with `account`, a username or id) the client's ref_id.
 * @throws NotFoundError if there is none.
 */
export async function describePurchase(key: string, account?: string): Promise<PurchaseDescription> {
  const purchase = await find(key, account);
  const id = purchase._id;
  const [journals, orders, deliveries, cases, audit] = await Promise.all([
    JournalModel.find({ subjectId: id }).sort({ _id: 1 }).lean<Journal[]>(),
    OrderModel.find({ transactionId: id }).sort({ n: 1 }).lean<Order[]>(),
    DeliveryModel.find({ orderKey: id }).sort({ _id: 1 }).lean<Delivery[]>(),
    CaseModel.find({ transactionId: id }).lean<ReconciliationCase[]>(),
    AuditModel.find({ 'subject.kind': 'transaction', 'subject.id': id }).sort({ at: 1 }).lean<AuditEntry[]>(),
  ]);
  const usernames = await usernamesOf([
    purchase.accountId,
    ...orders.map((each) => each.sellerId),
    ...deliveries.map((each) => each.accountId),
  ]);
  const known = { purchase, usernames, journals, orders, deliveries, cases, audit };
  return { ...known, timeline: timelineOf(known) };
}

async function find(key: string, account: string | undefined): Promise<Purchase> {
  if (account !== undefined) {
    return findPurchase((await requireAccount(account))._id, key);
  }
  const found = await PurchaseModel.findById(key).lean<Purchase>();
  if (!found) {
    throw new NotFoundError(
      `There is no transaction ${key}. For a client's ref_id, name the client: --account`,
    );
  }
  return found;
}

async function usernamesOf(ids: string[]): Promise<Record<string, string>> {
  const accounts = await AccountModel.find({ _id: { $in: [...new Set(ids)] } }, { username: 1 }).lean();
  return Object.fromEntries(accounts.map((each) => [each._id, each.username]));
}
