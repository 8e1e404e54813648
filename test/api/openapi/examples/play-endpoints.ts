import { sendResponse, startReceiver } from '../../../webhooks/support/receiver.js';
import type { Stack } from '../../../support/stack.js';
import type { Recorder } from './recorder.js';

/** Creates a second endpoint and makes every endpoint call on it. */
export async function playEndpoints(
  { recorder, stack }: { recorder: Recorder; stack: Stack },
  { role, key }: { role: 'buyer' | 'seller'; key: string },
): Promise<void> {
  const path = `/api/${role}/webhooks`;
  const body = {
    url: `${stack.inbox.url}/hooks/${role}-accounting`,
    events: role === 'buyer' ? ['deposit.*', 'webhook.disabled'] : ['settlement.*', 'webhook.disabled'],
    description: 'Accounting',
    in_flight_limit: 8,
  };
  const made = await recorder.play('made', { method: 'POST', path, key, body });
  const one = `${path}/${String(made.body.data.id)}`;
  await recorder.play('all', { method: 'GET', path, key });
  await recorder.play('one', { method: 'GET', path: one, key });
  await recorder.play('changed', { method: 'PATCH', path: one, key, body: { description: 'Books' } });
  await recorder.play('answered', { method: 'POST', path: `${one}/test`, key });
  await recorder.play('enabled', { method: 'POST', path: `${one}/enable`, key });
  await recorder.play('replaced', { method: 'POST', path: `${one}/secret/rotate`, key });
  await recorder.play('removed', { method: 'DELETE', path: one, key });
}

/**
 * Creates an endpoint that responds with 410 and is therefore disabled. The first endpoint is
 * notified. Returns the URL of the disabled endpoint's server.
 */
export async function playDisabledEndpoint(
  stack: Stack,
  { recorder, key }: { recorder: Recorder; key: string },
): Promise<string> {
  const goneReceiver = await startReceiver((_request, response) => sendResponse(response, 410));
  const path = '/api/buyer/webhooks';
  await recorder.play('made', { method: 'POST', path, key, body: { url: `${goneReceiver.url}/topup` } });
  // A change of the configuration triggers an event immediately.
  await recorder.play('changed', {
    method: 'PATCH',
    path: `${path}/default`,
    key,
    body: { events: ['*', 'webhook.disabled'] },
  });
  await stack.inbox.waitFor(({ headers }) => headers['x-event'] === 'webhook.disabled');
  await goneReceiver.close();
  return goneReceiver.url;
}
