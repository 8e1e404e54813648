/**
 * Table of all worker process types and the jobs that each handles. workers/run.ts, the queue
 * board, `topup doctor` and the documentation use this table.
 */
import { answerInquiry, answerInquiryJob } from './bills/inquire-bill.js';
import { queryMeterOwner, checkMeterJob } from './bills/check-meter.js';
import {
  handle,
  handleWith,
  isNamed,
  type Handler,
  type HandlerFamily,
  type Job,
  type Queue,
} from './jobs/define-job.js';
import { handleSweep } from './jobs/sweep-job.js';
import {
  postSellerCredits,
  sweepSellerCredits,
  postSellerCreditsJob,
  sweepSellerCreditsJob,
} from './money/credits/seller-credits.js';
import { foldTotals, foldTotalsJob } from './money/totals/fold-totals.js';
import { applyRetention, applyRetentionJob } from './privacy/apply-retention.js';
import { listProviderQueues } from './providers/provider-queue.js';
import { refreshProviders, refreshProvidersJob } from './providers/refresh-providers.js';
import { removeExpiredBindings, removeExpiredBindingsJob } from './purchases/accept/sign-bindings.js';
import {
  askProviderJob,
  getProviderFulfilmentJob,
  fulfilPurchaseJob,
  purchaseOutbox,
  sweepPurchasesJob,
  verifySaleJob,
} from './purchases/fulfil/fulfilment-jobs.js';
import { fulfilPurchase } from './purchases/fulfil/fulfil-purchase.js';
import { setAsidePurchase } from './purchases/fulfil/put-under-review.js';
import { sweepPendingNotices, sweepPendingNoticesJob } from './purchases/fulfil/pending-notice.js';
import { setAsideVerification, verifySale } from './purchases/fulfil/reverse-sale.js';
import { closeDueDays, closeLedgerJob } from './reconciliation/closes/close-ledger.js';
import { reconcileDue, reconcileProvidersJob } from './reconciliation/reconcile-due.js';
import {
  verifyOnRequest,
  verifyDueDay,
  verifyLedgerJob,
  verifyNowJob,
} from './reconciliation/ledger/run-verification.js';
import { generateReport, giveUpReport } from './reports/generate-report.js';
import { generateReportJob, reportOutbox, sweepReportsJob } from './reports/report-queue.js';
import { removeExpiredReports, removeExpiredReportsJob } from './reports/end-reports.js';
import { payOut } from './settlements/pay-out.js';
import { payOutJob, settlementOutbox, sweepSettlementsJob } from './settlements/settlement-jobs.js';
import { openDeliverer } from './webhooks/deliver/deliver-due.js';
import { deliverDueJob, sweepDeliveriesJob, sweepDeliveries } from './webhooks/deliver/delivery-jobs.js';

export interface ProcessType {
  /** Argument of `workers/run.js`. */
  name: string;
  /** Description for the documentation. */
  description: string;
  handlers: Handler[];
  /** Handlers that are added and removed at runtime, such as one queue per provider. */
  families?: HandlerFamily[];
}

/** Any number of processes of each type may run, and each process may be killed at any time. */
export const processTypes: ProcessType[] = [
  {
    name: 'fulfilment',
    description: 'Sends accepted purchases to providers.',
    handlers: [
      handle(fulfilPurchaseJob, (which) => fulfilPurchase(which, { turnAt: null }), setAsidePurchase),
    ],
    families: [{ name: 'queues of providers', handlersNow: buildProviderHandlers }],
  },
  {
    name: 'follow-up',
    description: 'Checks open purchases at providers, finds overdue work, and does scheduled work.',
    handlers: [
      handle(
        askProviderJob,
        ({ askNow, ...which }) => fulfilPurchase(which, { askNow, turnAt: null }),
        setAsidePurchase,
      ),
      handle(
        verifySaleJob,
        ({ purchaseId, accountId }) => verifySale(purchaseId, accountId),
        setAsideVerification,
      ),
      handleSweep(sweepPurchasesJob, purchaseOutbox),
      handleSweep(sweepSettlementsJob, settlementOutbox),
      handleSweep(sweepReportsJob, reportOutbox),
      handle(sweepPendingNoticesJob, sweepPendingNotices),
      handle(sweepSellerCreditsJob, sweepSellerCredits),
      handle(sweepDeliveriesJob, sweepDeliveries),
      handle(removeExpiredReportsJob, removeExpiredReports),
      handle(removeExpiredBindingsJob, removeExpiredBindings),
      handle(applyRetentionJob, applyRetention),
      handle(refreshProvidersJob, refreshProviders),
      handle(closeLedgerJob, closeDueDays),
      handle(verifyLedgerJob, verifyDueDay),
      handle(reconcileProvidersJob, reconcileDue),
      handle(verifyNowJob, verifyOnRequest),
      handle(foldTotalsJob, foldTotals),
    ],
  },
  {
    name: 'webhooks',
    description: "Sends webhooks and callbacks to clients' URLs.",
    handlers: [handleWith(deliverDueJob, openDeliverer)],
  },
  {
    name: 'sellers',
    description: 'Posts sales to seller wallets.',
    handlers: [handle(postSellerCreditsJob, ({ accountId }) => postSellerCredits(accountId))],
  },
  {
    name: 'settlements',
    description: 'Pays out settlements.',
    handlers: [handle(payOutJob, ({ settlementId, accountId }) => payOut(settlementId, accountId))],
  },
  {
    name: 'inquiries',
    description: 'Queries providers for bills and meter owners while the client waits.',
    handlers: [
      handle(answerInquiryJob, ({ inquiryId, accountId }) => answerInquiry(inquiryId, accountId)),
      handle(checkMeterJob, ({ checkId }) => queryMeterOwner(checkId)),
    ],
  },
  {
    name: 'reports',
    description: 'Generates reports.',
    handlers: [handle(generateReportJob, ({ reportId }) => generateReport(reportId), giveUpReport)],
  },
];

async function buildProviderHandlers(): Promise<Handler[]> {
  return (await listProviderQueues()).map(({ sellerId, queue }) =>
    handle(
      { ...getProviderFulfilmentJob(sellerId), queue },
      (which) => fulfilPurchase(which, { turnAt: sellerId }),
      setAsidePurchase,
    ),
  );
}

/**
 * Finds every kind of job in every queue. The job of a purchase that waits for a provider appears
 * once for each provider's queue.
 */
export async function findCurrentJobs(): Promise<Job<never>[]> {
  const families = processTypes.flatMap(({ families: own = [] }) => own);
  const found = await Promise.all(families.map((each) => each.handlersNow()));
  return [...processTypes.flatMap(({ handlers }) => handlers), ...found.flat()].map(({ job }) => job);
}

export function findProcessType(name: string): ProcessType | undefined {
  return processTypes.find((each) => each.name === name);
}

/** Finds every queue with its process type, including the current queues of providers. */
export async function findCurrentQueues(): Promise<{ queue: Queue; process: ProcessType }[]> {
  const families = processTypes.flatMap((process) =>
    (process.families ?? []).map((family) => ({ process, family })),
  );
  const found = await Promise.all(
    families.map(async ({ process, family }) =>
      (await family.handlersNow()).map(({ job }) => ({ queue: job.queue, process })),
    ),
  );
  return [...listFixedQueues(), ...found.flat()];
}

/** Lists every queue with its process type, without the queues of providers. */
export function listFixedQueues(): { queue: Queue; process: ProcessType }[] {
  const found = new Map<Queue, ProcessType>();
  for (const process of processTypes) {
    for (const { job } of process.handlers) {
      found.set(job.queue, process);
    }
  }
  return [...found].map(([queue, process]) => ({ queue, process }));
}

/** Finds a job by its current name or its name in an earlier release. */
export function findJobByName(name: string): Job<never> | undefined {
  return processTypes.flatMap(({ handlers }) => handlers).find(({ job }) => isNamed(job, name))?.job;
}
