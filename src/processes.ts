/**
 * Every kind of worker process and what it does: the one table that workers/run.ts starts from, and that the queue
 * board, `topup doctor` and the documentation are made from.
 */
import { answerInquiry } from './bills/answer-inquiry.js';
import { answerInquiryJob } from './bills/answer-inquiry.job.js';
import { handle, handleWith, type Handler, type Queue } from './jobs/define-job.js';
import { handleSweep } from './jobs/sweep-job.js';
import { postSellerCredits, sweepSellerCredits } from './money/credits/post-seller-credits.js';
import { postSellerCreditsJob, sweepSellerCreditsJob } from './money/credits/post-seller-credits.job.js';
import { refreshProviders } from './providers/refresh-providers.js';
import { refreshProvidersJob } from './providers/refresh-providers.job.js';
import { askProviderJob } from './purchases/fulfil/ask-provider.job.js';
import { fulfilPurchase } from './purchases/fulfil/fulfil-purchase.js';
import { fulfilPurchaseJob } from './purchases/fulfil/fulfil-purchase.job.js';
import { purchaseOutbox, sweepPurchasesJob } from './purchases/fulfil/purchase-outbox.js';
import { sweepPendingNotices } from './purchases/fulfil/sweep-pending-notices.js';
import { sweepPendingNoticesJob } from './purchases/fulfil/sweep-pending-notices.job.js';
import { verifySale } from './purchases/fulfil/verify-sale.js';
import { verifySaleJob } from './purchases/fulfil/verify-sale.job.js';
import { generateReport } from './reports/generate-report.js';
import { generateReportJob } from './reports/generate-report.job.js';
import { removeExpiredReports } from './reports/remove-expired-reports.js';
import { removeExpiredReportsJob } from './reports/remove-expired-reports.job.js';
import { reportOutbox, sweepReportsJob } from './reports/report-outbox.js';
import { payOut } from './settlements/pay-out.js';
import { payOutJob } from './settlements/pay-out.job.js';
import { settlementOutbox, sweepSettlementsJob } from './settlements/settlement-outbox.js';
import { openDeliverer } from './webhooks/deliver-due.js';
import { deliverDueJob, sweepDeliveriesJob } from './webhooks/deliver-due.job.js';
import { sweepDeliveries } from './webhooks/sweep-deliveries.js';

export interface ProcessType {
  /** What `workers/run.js` is told. */
  name: string;
  /** A name that starts it as well, for formations of an earlier release. */
  formerName?: string;
  /** Words for the documentation. */
  does: string;
  handlers: Handler[];
}

/** Any number of each may run, and any of them may be killed at any time. */
export const processTypes: ProcessType[] = [
  {
    name: 'fulfilment',
    does: 'Takes accepted purchases to a provider.',
    // A job that fails is not retried by BullMQ: the sweep adds a new one.
    handlers: [handle(fulfilPurchaseJob, ({ purchaseId }) => fulfilPurchase(purchaseId))],
  },
  {
    name: 'follow-up',
    formerName: 'polling',
    does: 'Asks providers about open purchases, and finds by the clock what nobody has looked at in time.',
    handlers: [
      handle(askProviderJob, ({ purchaseId, askNow }) => fulfilPurchase(purchaseId, { askNow })),
      handle(verifySaleJob, ({ purchaseId }) => verifySale(purchaseId)),
      handleSweep(sweepPurchasesJob, purchaseOutbox),
      handleSweep(sweepSettlementsJob, settlementOutbox),
      handleSweep(sweepReportsJob, reportOutbox),
      handle(sweepPendingNoticesJob, sweepPendingNotices),
      handle(sweepSellerCreditsJob, sweepSellerCredits),
      handle(sweepDeliveriesJob, sweepDeliveries),
      handle(removeExpiredReportsJob, removeExpiredReports),
      handle(refreshProvidersJob, refreshProviders),
    ],
  },
  {
    name: 'webhooks',
    does: "Sends webhooks and callbacks to clients' URLs.",
    handlers: [handleWith(deliverDueJob, openDeliverer)],
  },
  {
    name: 'sellers',
    does: 'Posts sales to seller wallets.',
    handlers: [handle(postSellerCreditsJob, ({ sellerId }) => postSellerCredits(sellerId))],
  },
  {
    name: 'settlements',
    does: 'Pays out settlements.',
    handlers: [handle(payOutJob, ({ settlementId }) => payOut(settlementId))],
  },
  {
    name: 'inquiries',
    does: 'Asks providers for bills, while the client waits.',
    handlers: [handle(answerInquiryJob, ({ inquiryId }) => answerInquiry(inquiryId))],
  },
  {
    name: 'reports',
    does: 'Generates reports.',
    handlers: [handle(generateReportJob, ({ reportId }) => generateReport(reportId))],
  },
];

/** The process type that is started by this name. */
export function processTypeNamed(name: string): ProcessType | undefined {
  return processTypes.find((each) => each.name === name || each.formerName === name);
}

/** Every queue with the process type that takes its jobs. */
export function queuesOfProcesses(): { queue: Queue; process: ProcessType }[] {
  const found = new Map<Queue, ProcessType>();
  for (const process of processTypes) {
    for (const { job } of process.handlers) {
      found.set(job.queue, process);
    }
  }
  return [...found].map(([queue, process]) => ({ queue, process }));
}
