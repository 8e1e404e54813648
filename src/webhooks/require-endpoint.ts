import { endpointsOf, type EndpointOwner, type WebhookEndpoint } from '../accounts/webhook-endpoint.js';
import { NotFoundError } from '../shared/errors.js';

/** @throws NotFoundError (404/02), also for an endpoint of another account. */
export function requireEndpoint(account: EndpointOwner, id: string): WebhookEndpoint {
  const found = endpointsOf(account).find((each) => each.id === id);
  if (!found) {
    throw new NotFoundError('There is no webhook endpoint with this id. GET …/webhooks lists yours.');
  }
  return found;
}
