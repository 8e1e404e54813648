import { env } from '../../config/env.js';
import { createSender } from '../webhooks/send-request.js';
import { urlGuard } from '../webhooks/url-guard.js';
import { sendText } from './send-alarm.js';

const text = '[test] Alarms of this service come here. This one is a test: nothing is wrong.';

/**
 * Sends a message to an ALERT_WEBHOOK_URL as an alarm would be.
 * @returns why it was not taken; null: it was.
 */
export async function tryAlertUrl(url: string): Promise<string | null> {
  const sender = createSender(urlGuard, { proxyUrl: env.WEBHOOK_PROXY_URL });
  try {
    return await sendText(sender, url, text);
  } finally {
    await sender.close();
  }
}
