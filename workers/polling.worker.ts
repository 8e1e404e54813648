import { env } from '../config/env.js';
import { refreshProviders } from '../src/providers/refresh-providers.js';
import { repeat } from '../src/shared/repeat.js';
import { startWorker } from '../src/jobs/queues.js';
import { sweepReports } from '../src/reports/sweep-reports.js';
import { sweepSettlements } from '../src/settlements/sweep-settlements.js';
import { fulfilPurchase } from '../src/purchases/fulfil/fulfil-purchase.js';
import { sweepSellerCredits } from '../src/money/credits/post-seller-credits.js';
import { sweepPendingNotices, sweepPurchases } from '../src/purchases/fulfil/sweep-purchases.js';
import { verifySale } from '../src/purchases/fulfil/verify-sale.js';
import { sweepDeliveries } from '../src/webhooks/sweep-deliveries.js';
import type { RunningWorker } from './run.js';

const sweepEveryMs = 1_000;

/**
 * Asks providers about open purchases, and sweeps: finds in MongoDB what nobody has looked at in time, so that
 * nothing depends on a job that was lost. Several of these may sweep at once.
 */
export function startPollingWorker(): RunningWorker {
  const worker = startWorker(
    'polling',
    ({ name, data }) =>
      name === 'verify'
        ? verifySale(data.transactionId)
        : fulfilPurchase(data.transactionId, { askNow: name === 'callback' }),
    { concurrency: env.FULFILMENT_CONCURRENCY },
  );
  const sweeps = [
    sweepPurchases,
    sweepPendingNotices,
    sweepSellerCredits,
    sweepSettlements,
    sweepReports,
    sweepDeliveries,
    refreshProviders,
  ].map((sweep) => repeat({ name: sweep.name, everyMs: sweepEveryMs, run: sweep }));
  return {
    async close() {
      await Promise.all([worker.close(), ...sweeps.map((each) => each.stop())]);
    },
  };
}
