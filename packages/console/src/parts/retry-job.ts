import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { t } from '../text/text.js';

/**
 * Retries one job.
 * @throws Error with the reason if the job cannot be retried.
 */
export async function retryJob(id: string, reason: string): Promise<void> {
  const { jobs } = await unwrapData(api.POST('/jobs/retry', { body: { ids: [id], reason } }));
  const refusal = jobs[0]?.refusal ?? null;
  if (refusal !== null) {
    throw new Error(t('cannotRetry', { why: t(`notRetried_${refusal}`) }));
  }
}
