import { expect } from 'chai';
import { limits } from '../../../config/limits.js';
import { AccountModel, type Account } from '../../../src/accounts/account.model.js';
import {
  buildPurchaseDeliveries,
  type PurchaseEvent,
} from '../../../src/purchases/purchase-notifications.js';
import { newId } from '../../../src/shared/ids.js';
import { createDeliverer } from '../../../src/webhooks/deliver/deliver-due.js';
import { deliveries, type Delivery } from '../../../src/webhooks/deliver/delivery.model.js';
import { createSender } from '../../../src/webhooks/deliver/send-request.js';
import { createUrlGuard } from '../../../src/webhooks/deliver/url-guard.js';
import { useApi, type ApiAccount } from '../../api/support/api.js';
import { someTransaction, storeDeliveries } from './accounts.js';
import { acceptRequest, startReceiver, type TestReceiver } from './receiver.js';

/** An endpoint in the format of the API. */
export interface ShownEndpoint {
  id: string;
  url: string;
  events: string[];
  version: string;
  description: string | null;
  secret: string;
  status: string;
  since: string | null;
  reason: string | null;
  action: string | null;
}

const root = '/api/buyer/webhooks';

/**
 * Gives each test a buyer with a `webhook_url`, a server that receives all its webhooks, and a
 * deliverer in this process.
 */
export function useEndpoints() {
  const api = useApi();
  const sender = createSender(createUrlGuard({ allowPrivate: true }));
  const deliverer = createDeliverer(sender);
  const stage = {} as { receiver: TestReceiver; owner: ApiAccount };

  before(async () => {
    stage.receiver = await startReceiver();
  });
  after(async () => {
    await sender.close();
    await stage.receiver.close();
  });
  beforeEach(async () => {
    stage.receiver.behave(acceptRequest);
    const over = { webhookUrl: uniqueUrl('first'), rateLimit: limits.rateLimitMax };
    stage.owner = await api.newAccount('buyer', over);
  });

  /** Returns a URL that no other test uses. */
  const uniqueUrl = (name: string) => `${stage.receiver.url}/${newId()}/${name}`;
  const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object, key?: string) =>
    api.call({ method, path: root + path, key: key ?? stage.owner.key, ...(body && { body }) });
  const get = (path = '', key?: string) => call('GET', path, undefined, key);
  const post = (path: string, body: object = {}, key?: string) => call('POST', path, body, key);
  const rowsOf = (filter: object = {}) =>
    deliveries
      .find({ accountId: stage.owner.account._id, ...filter })
      .sort({ createdAt: 1, _id: 1 })
      .toArray();
  const stored = () => AccountModel.findById(stage.owner.account._id).orFail().lean<Account>();
  const getRequestsTo = (url: string) =>
    stage.receiver.received.filter(({ path }) => path === new URL(url).pathname);
  const deliverDue = async (rows: Delivery[]) => {
    const receiverIds = [...new Set(rows.map(({ receiverId }) => receiverId))];
    await Promise.all(receiverIds.map((receiverId) => deliverer.deliverDue(receiverId)));
    await deliverer.drain();
  };
  return {
    api,
    deliverer,
    stage,
    hook: uniqueUrl,
    get,
    post,
    rowsOf,
    stored,
    cameTo: getRequestsTo,
    turn: deliverDue,
    patch: (id: string, body: object, key?: string) => call('PATCH', `/${id}`, body, key),
    remove: (id: string, key?: string) => call('DELETE', `/${id}`, undefined, key),
    config: (body?: object) =>
      api.call({ path: '/api/buyer/api/config', key: stage.owner.key, ...(body && { body }) }),
    listed: async () => (await get()).body.data as ShownEndpoint[],
    made: async (body: object) => {
      const { status, body: created } = await post('', body);
      expect(status, JSON.stringify(created)).to.equal(201);
      return created.data as ShownEndpoint;
    },
    eventsAt: (url: string) => getRequestsTo(url).map(({ headers }) => headers['x-event']),
    deliverAll: async () => deliverDue(await rowsOf({ state: 'due' })),
    /**
     * Stores the events of a purchase for the current account.
     * @returns one row per endpoint, the default endpoint first.
     */
    event: async (
      kind: PurchaseEvent,
      purchase = someTransaction({ accountId: stage.owner.account._id }),
    ): Promise<Delivery[]> =>
      storeDeliveries(
        buildPurchaseDeliveries({ purchase, buyer: await stored(), seller: null, event: kind }),
      ),
  };
}
