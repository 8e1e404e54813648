import { getEndpoints, type EndpointOwner, type WebhookEndpoint } from '../accounts/webhook-endpoint.js';
import { NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';

/** @throws NotFoundError (404/02), also for an endpoint of another account. */
export function requireEndpoint(account: EndpointOwner, id: string): WebhookEndpoint {
  const found = getEndpoints(account).find((each) => each.id === id);
  if (!found) {
    throw new NotFoundError(say('noEndpoint'));
  }
  return found;
}
