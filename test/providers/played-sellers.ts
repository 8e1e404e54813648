/**
 * Sellers whose providers are simulated by a test. They are created while the service is running.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { announceChange } from '../support/announce-change.js';
import type { Stack } from '../support/stack.js';
import { sendJson, startPlayServer, type PlayedCall, type PlayServer } from './play-server.js';
import { addProduct, addSeller, pointSeller } from './provider-stack.js';

export interface PlayedSeller {
  server: PlayServer;
  sellerId: string;
  code: string;
  /** The orders that the provider received, in order of arrival. */
  arrivals: { refId: string; customer: string; atMs: number }[];
}

type ResponseHandler = (call: PlayedCall, response: ServerResponse) => void;

/** Responds as a provider that has executed the order. */
export function respondWithSuccess(call: PlayedCall, response: ServerResponse): void {
  const refId = call.url.searchParams.get('ref_id') ?? '';
  sendJson(response, 200, {
    status: '00',
    ref_id: refId,
    transaction_status: 'success',
    message: 'Success',
    sn: `SN${refId}`,
  });
}

export function playedSellers(stack: Stack) {
  const servers: PlayServer[] = [];

  /**
   * Creates a seller while the workers are running. `answer` handles the requests to its provider.
   */
  async function play(answer: ResponseHandler, settings: object = {}): Promise<PlayedSeller> {
    const arrivals: PlayedSeller['arrivals'] = [];
    const server = await startPlayServer((call, response) => {
      if (call.url.pathname !== '/request') {
        sendJson(response, 200, { status: '00', balance: 1_000_000_000 });
        return;
      }
      const { searchParams } = call.url;
      arrivals.push({
        refId: searchParams.get('ref_id') ?? '',
        customer: searchParams.get('customer') ?? '',
        atMs: Date.now(),
      });
      answer(call, response);
    });
    servers.push(server);
    const username = `s${randomUUID().slice(0, 8)}`;
    const sellerId = await addSeller(stack, username);
    await pointSeller(stack, username, { kind: 'h2h', baseUrl: server.url, username, secret: 'secret' });
    await set(sellerId, settings);
    return { server, sellerId, code: await addProduct(stack, [{ sellerId, price: 10_000 }]), arrivals };
  }

  async function set(sellerId: string, settings: object): Promise<void> {
    const fields = Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [`provider.${name}`, value as unknown]),
    );
    await stack.db
      .collection<{ _id: string }>('accounts')
      .updateOne({ _id: sellerId }, { $set: { status: 'active', ...fields } });
    await announceChange(stack);
  }

  return { play, set, stop: () => Promise.all(servers.map((server) => server.stop())) };
}
