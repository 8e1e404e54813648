/** Process type `webhooks`: sends what is due to clients' URLs. Start more of it to send more. */
import { startWorker } from '../src/jobs/queues.js';
import { createDeliverer } from '../src/webhooks/deliver-due.js';
import { createSender } from '../src/webhooks/send-request.js';
import { urlGuard } from '../src/webhooks/url-guard.js';
import { webhookLimits } from '../src/webhooks/webhook-limits.js';

/** @returns close(): takes no more work and resolves when everything under way has ended, at most one request's time later. */
export function startWebhookWorker(): { close(): Promise<void> } {
  const sender = createSender(urlGuard);
  const deliverer = createDeliverer(sender);
  const worker = startWorker('webhooks', (job) => deliverer.deliverDue(job.data.receiverId), {
    concurrency: webhookLimits.slots,
  });
  return {
    close: async () => {
      await worker.close();
      await deliverer.drain();
      await sender.close();
    },
  };
}
