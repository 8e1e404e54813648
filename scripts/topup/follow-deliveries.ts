import { setTimeout as wait } from 'node:timers/promises';
import type { ChangedBy } from '../../src/audit/record-audit.js';
import type { Delivery } from '../../src/webhooks/deliver/delivery.model.js';
import { UsageError } from './usage-error.js';

const pollEveryMs = 300;
const answerTimeoutMs = 10_000;
/**
 * Assumed maximum clock difference between processes, in milliseconds. Events from shortly before
 * the start may be forwarded, so that none is missed.
 */
const clocksApartMs = 1_000;

/**
 * Posts a copy of each new delivery of an account to a URL, until `countMax` or an interrupt.
 * @returns The number of forwarded deliveries.
 */
export async function followDeliveries(following: {
  username: string;
  url: string;
  countMax: number;
  onForwarded: (line: string) => void;
  by: ChangedBy;
}): Promise<number> {
  const [
    { AccountModel },
    { recordAudit },
    { listDeliveriesSince },
    { buildDeliveryHeaders },
    { getDeliveryKeys },
    { getEndpoints },
    { nowMs },
  ] = await Promise.all([
    import('../../src/accounts/account.model.js'),
    import('../../src/audit/record-audit.js'),
    import('../../src/webhooks/deliver/stored-deliveries.js'),
    import('../../src/webhooks/deliver/sign-delivery.js'),
    import('../../src/webhooks/deliver/sign-delivery.js'),
    import('../../src/accounts/webhook-endpoint.js'),
    import('../../src/shared/clock.js'),
  ]);
  const account = await AccountModel.findOne({ username: following.username }).lean();
  if (!account) {
    throw new UsageError(`There is no account "${following.username}". topup account list shows all.`);
  }
  if (getEndpoints(account).length === 0 && account.callbackUrl === null) {
    throw new UsageError(
      'The account has neither a webhook endpoint nor a callback_url, so it has no events.',
    );
  }
  await recordAudit(null, {
    ...following.by,
    action: 'webhook.listen',
    subject: { kind: 'account', id: account._id },
    // Without the query, which may contain a secret.
    after: { to: new URL(following.url).origin },
  });
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  // Read before the announcement, so that no event after the announcement is missed.
  const startedMs = nowMs() - clocksApartMs;
  following.onForwarded(`Forwarding events of ${following.username} to ${following.url} (Ctrl-C stops it)`);
  const seen = new Set<string>();
  // A row is created shortly before its commit becomes visible. Looking back finds such rows, and
  // `seen` prevents a second copy.
  const lookBackMs = 5_000;
  while (!stop.signal.aborted && seen.size < following.countMax) {
    const since = new Date(Math.max(startedMs, nowMs() - lookBackMs));
    for (const row of await listDeliveriesSince(account._id, since)) {
      if (!seen.has(row._id) && seen.size < following.countMax) {
        seen.add(row._id);
        const headers = buildDeliveryHeaders({ ...row, attemptCount: 0 }, getDeliveryKeys(row, account));
        following.onForwarded(
          `${row.event} ${row.refId ?? ''} -> ${await forward(following.url, row, headers)}`,
        );
      }
    }
    await wait(pollEveryMs);
  }
  return seen.size;
}

async function forward(url: string, row: Delivery, headers: Record<string, string>): Promise<string> {
  const { request } = await import('undici');
  try {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers,
      body: row.body,
      signal: AbortSignal.timeout(answerTimeoutMs),
    });
    await body.dump();
    return String(statusCode);
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'no response';
  }
}
