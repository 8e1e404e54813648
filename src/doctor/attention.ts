import { AdjustmentModel } from '../adjustments/adjustment.model.js';
import { SettlementModel } from '../settlements/settlement.model.js';
import { nowMs } from '../shared/clock.js';
import { FailingJobModel, needsPersonFilter, type FailingJob } from '../jobs/failing-job.model.js';
import { CaseModel, openCaseFilter as areOpen } from '../purchases/case.model.js';
import { SellerCreditModel } from '../money/credits/seller-credit.model.js';
import { PurchaseModel } from '../purchases/purchase.model.js';
import { DepositModel } from '../deposits/deposit.model.js';
import { ReportModel } from '../reports/report.model.js';
import { DeliveryModel } from '../webhooks/deliver/delivery.model.js';
import { ReceiverModel } from '../webhooks/receivers/receiver.model.js';

/**
 * Work that waits for the operator. Each count stops at `countMax`, because a higher count would
 * not change what the operator does.
 */
export interface Attention {
  openCases: number;
  reviews: number;
  /** Number of dead deliveries, without pings, which accounts send to test a URL. */
  deadDeliveries: number;
  /** Number of account URLs that were disabled in the last seven days and are still disabled. */
  disabledWebhooks: number;
  pendingDeposits: number;
  /**
   * Number of settlements that wait for approval, or for a manual bank payment
   * (PAYOUT_MODE=manual).
   */
  settlements: number;
  /** Number of adjustments that wait for a second operator. */
  adjustments: number;
  /** Number of reports that failed permanently. They count until they are removed after 7 days. */
  failedReports: number;
  /** Number of jobs that were set aside after repeated failures. */
  failingJobs: number;
}

const countMax = 1_000;

/** Formats a count of `Attention` or `Backlog`, with "or more" if it reached `countMax`. */
export function formatCount(count: number): string {
  return count >= countMax ? `${countMax} or more` : String(count);
}

const deadDays = 7;

/**
 * Counts the work that only a person can decide. A document that changes its status during the
 * count may count twice. Dead deliveries and disabled URLs count for seven days.
 */
export async function countAttention(): Promise<Attention> {
  const deadSince = new Date(nowMs() - deadDays * 86_400_000);
  const [
    openCases,
    reviews,
    deadDeliveries,
    disabledWebhooks,
    pendingDeposits,
    settlements,
    adjustments,
    failedReports,
    failingJobs,
  ] = await Promise.all([
    CaseModel.countDocuments(areOpen).limit(countMax),
    PurchaseModel.countDocuments({ reviewSince: { $type: 'date' } }).limit(countMax),
    DeliveryModel.countDocuments({
      state: 'dead',
      event: { $ne: 'ping' },
      settledAt: { $gte: deadSince },
    }).limit(countMax),
    ReceiverModel.countDocuments({ disabledAt: { $type: 'date', $gte: deadSince } }).limit(countMax),
    DepositModel.countDocuments({ status: 'pending' }).limit(countMax),
    SettlementModel.countDocuments({
      status: { $in: ['pending', 'processing'] },
      nextActionAt: null,
    }).limit(countMax),
    AdjustmentModel.countDocuments({ status: 'pending' }).limit(countMax),
    ReportModel.countDocuments({ status: 'failed', nextActionAt: null }).limit(countMax),
    FailingJobModel.countDocuments(needsPersonFilter).limit(countMax),
  ]);
  return {
    openCases,
    reviews,
    deadDeliveries,
    disabledWebhooks,
    pendingDeposits,
    settlements,
    adjustments,
    failedReports,
    failingJobs,
  };
}

/** Lists jobs that were set aside after repeated failures, the most recent first. */
export async function listFailingJobs(limit: number): Promise<FailingJob[]> {
  return FailingJobModel.find(needsPersonFilter)
    .sort({ needsPersonSince: -1 })
    .limit(limit)
    .lean<FailingJob[]>();
}

/** Work that is late by more than `lateMs`, because no worker does it or the sweep does not run. */
export interface Backlog {
  purchases: number;
  deliveries: number;
  postings: number;
}

export async function countBacklog(lateMs: number): Promise<Backlog> {
  const before = new Date(nowMs() - lateMs);
  const silent = await findSilentReceivers(before);
  const [purchases, deliveries, postings] = await Promise.all([
    PurchaseModel.countDocuments({
      status: { $in: ['PENDING', 'PROCESSING'] },
      nextActionAt: { $lt: before },
    }).limit(countMax),
    DeliveryModel.countDocuments({
      state: 'due',
      nextAttemptAt: { $lt: before },
      ...(silent.length > 0 && { receiverId: { $nin: silent } }),
    })
      .hint('receiver_due')
      .limit(countMax),
    SellerCreditModel.countDocuments({ status: 'new', createdAt: { $lt: before } })
      .hint('new_oldest')
      .limit(countMax),
  ]);
  return { purchases, deliveries, postings };
}

/**
 * Finds receivers whose circuit breaker stays open until after `after`. Deliveries to these
 * receivers do not count as late.
 */
async function findSilentReceivers(after: Date): Promise<string[]> {
  const rows = await ReceiverModel.find({ openUntil: { $type: 'date', $gt: after } }, { _id: 1 })
    .limit(countMax)
    .lean<{ _id: string }[]>();
  return rows.map(({ _id }) => _id);
}
