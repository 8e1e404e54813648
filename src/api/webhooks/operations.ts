import type { Role } from '../../accounts/account.model.js';
import type { AnyOperation } from '../operation.js';
import { createEndpointFor } from './create-endpoint.js';
import { enableEndpointFor, enableWebhooksFor } from './enable-webhooks.js';
import { getEndpointFor } from './get-endpoint.js';
import { listDeliveriesFor } from './list-deliveries.js';
import { listEndpointsFor } from './list-endpoints.js';
import { removeEndpointFor } from './remove-endpoint.js';
import { replayDeliveriesFor } from './replay-deliveries.js';
import { replayDeliveryFor } from './replay-delivery.js';
import { rotateEndpointSecretFor, rotateSecretFor } from './rotate-secret.js';
import { testEndpointFor, testWebhookFor } from './test-webhook.js';
import { updateEndpointFor } from './update-endpoint.js';

/** What an account of this role can see and do about its webhooks. */
export function webhookOperations(role: Role): AnyOperation[] {
  return [
    listDeliveriesFor(role),
    replayDeliveryFor(role),
    replayDeliveriesFor(role),
    testWebhookFor(role),
    enableWebhooksFor(role),
    rotateSecretFor(role),
    listEndpointsFor(role),
    createEndpointFor(role),
    // After the calls whose names stand where an id could.
    getEndpointFor(role),
    updateEndpointFor(role),
    removeEndpointFor(role),
    testEndpointFor(role),
    enableEndpointFor(role),
    rotateEndpointSecretFor(role),
  ];
}
