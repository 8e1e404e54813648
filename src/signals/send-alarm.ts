import { logger, logOncePerMinute } from '../shared/logger.js';
import { type Sender, createSender } from '../webhooks/deliver/send-request.js';
import type { Alarm } from './alarm-rules.js';
import { env } from '../../config/env.js';
import { urlGuard } from '../webhooks/deliver/url-guard.js';

/**
 * Sends a message.
 * @returns Null if the message was accepted. Otherwise the reason without the URL, and the message
 * is sent again.
 */
export type SendAlarmText = (text: string) => Promise<string | null>;

export function formatAlarm({ id, name, severity, message }: Omit<Alarm, 'forMs'>): string {
  return `[${severity}] ${id}: ${message.replace(/\.$/, '')}. See ${name} in docs/guides/alarms`;
}

/**
 * Formats the end of an alarm.
 * @param untold The message that no receiver accepted while the alarm was active. Null if it was
 * accepted.
 */
export function formatAlarmEnd(id: string, since: Date, untold: string | null = null): string {
  const message = `[over] ${id}: since ${since.toISOString()}`;
  return untold === null
    ? message
    : `${message}. The alarm could not be delivered while it lasted: ${untold}`;
}

/** Sends a message as `SendAlarmText` does, and logs it. */
export async function sendText(sender: Sender, url: string, text: string): Promise<string | null> {
  const result = await sender.send({
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  });
  if (result.kind === 'answered' && result.httpStatus >= 200 && result.httpStatus < 300) {
    logger.info('alarm sent', { text });
    return null;
  }
  // The URL is never logged, because anyone who knows it can post messages.
  const refusal = result.kind === 'answered' ? `it returned ${result.httpStatus}` : result.error;
  logOncePerMinute('alarm could not be sent', refusal, { text });
  return refusal;
}

const text = '[test] Alarms of this service arrive here. This is a test: nothing is wrong.';

/**
 * Sends a test message to an ALERT_WEBHOOK_URL.
 * @returns Why the message was not accepted. Null if it was.
 */
export async function testAlertUrl(url: string): Promise<string | null> {
  const sender = createSender(urlGuard, { proxyUrl: env.WEBHOOK_PROXY_URL });
  try {
    return await sendText(sender, url, text);
  } finally {
    await sender.close();
  }
}
