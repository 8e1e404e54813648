import { SettlementModel } from '../settlements/settlement.model.js';
import { nowMs } from '../shared/clock.js';
import { CaseModel } from '../purchases/case.model.js';
import { SellerCreditModel } from '../money/credits/seller-credit.model.js';
import { PurchaseModel } from '../purchases/purchase.model.js';
import { DepositModel } from '../deposits/deposit.model.js';
import { DeliveryModel, type Delivery } from '../webhooks/delivery.model.js';

/** What waits for the operator. Each count stops at `countMax`: more changes nothing about what to do. */
export interface Attention {
  openCases: number;
  reviews: number;
  deadDeliveries: number;
  pendingDeposits: number;
  /** They wait for approval, or for the operator's own payment at the bank (PAYOUT_MODE=manual). */
  settlements: number;
}

export const countMax = 1_000;
const deadDays = 7;

/** Counts what only a person can decide; deliveries count as dead for seven days. */
export async function countAttention(): Promise<Attention> {
  const deadSince = new Date(nowMs() - deadDays * 86_400_000);
  const [openCases, reviews, deadDeliveries, pendingDeposits, settlements] = await Promise.all([
    CaseModel.countDocuments({ resolvedAt: null }).limit(countMax),
    PurchaseModel.countDocuments({ reviewSince: { $type: 'date' } }).limit(countMax),
    DeliveryModel.countDocuments({ state: 'dead', settledAt: { $gte: deadSince } }).limit(countMax),
    DepositModel.countDocuments({ status: 'pending' }).limit(countMax),
    SettlementModel.countDocuments({
      status: { $in: ['pending', 'processing'] },
      nextActionAt: null,
    }).limit(countMax),
  ]);
  return { openCases, reviews, deadDeliveries, pendingDeposits, settlements };
}

/** Webhooks and callbacks that were given up, last first. */
export async function listDeadDeliveries(limit: number): Promise<Delivery[]> {
  return DeliveryModel.find({ state: 'dead' }).sort({ settledAt: -1 }).limit(limit).lean<Delivery[]>();
}

/** Work that is late by more than `lateMs`: nobody does it, or the sweep does not run. */
export interface Backlog {
  purchases: number;
  deliveries: number;
  postings: number;
}

export async function countBacklog(lateMs: number): Promise<Backlog> {
  const before = new Date(nowMs() - lateMs);
  const [purchases, deliveries, postings] = await Promise.all([
    PurchaseModel.countDocuments({
      status: { $in: ['PENDING', 'PROCESSING'] },
      nextActionAt: { $lt: before },
    }).limit(countMax),
    DeliveryModel.countDocuments({ state: 'due', nextAttemptAt: { $lt: before } })
      .hint('receiver_due')
      .limit(countMax),
    SellerCreditModel.countDocuments({ status: 'new', createdAt: { $lt: before } }).limit(countMax),
  ]);
  return { purchases, deliveries, postings };
}
