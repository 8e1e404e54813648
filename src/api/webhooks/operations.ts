import type { Role } from '../../accounts/account.model.js';
import type { AnyOperation } from '../operation.js';
import { enableWebhooksFor } from './enable-webhooks.js';
import { listDeliveriesFor } from './list-deliveries.js';
import { replayDeliveriesFor } from './replay-deliveries.js';
import { replayDeliveryFor } from './replay-delivery.js';
import { rotateSecretFor } from './rotate-secret.js';
import { testWebhookFor } from './test-webhook.js';

/** What an account of this role can see and do about its webhooks. */
export function webhookOperations(role: Role): AnyOperation[] {
  return [
    listDeliveriesFor(role),
    replayDeliveryFor(role),
    replayDeliveriesFor(role),
    testWebhookFor(role),
    enableWebhooksFor(role),
    rotateSecretFor(role),
  ];
}
