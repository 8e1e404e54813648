/** Causes of alarms about work that waits for a person. */
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expiredCertificate } from '../../providers/expired-certificate.js';
import { sendJson } from '../../providers/play-server.js';
import { playedSellers } from '../../providers/played-sellers.js';
import { addProduct, waitUntilFinal, purchase } from '../../providers/provider-stack.js';
import { retrySchedule } from '../../../src/webhooks/deliver/retry-schedule.js';
import { announceChange } from '../../support/announce-change.js';
import { apiClient, uniqueRef } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { topup } from '../../support/topup.js';
import type { Causes, Scene } from './scene.js';

const reason = ['--reason', 'the test ends it'];

/**
 * Lists the causes.
 * @param otherKey The API key of the second buyer.
 */
export function causesOfPeople(scene: Scene, otherKey: string): Causes {
  const { stack, buyer, other, rows, idOf } = scene;
  const sellers = playedSellers(stack);
  let receiver: Server | undefined;
  let dead = '';
  let depositId = '';
  const act = async (...args: string[]) => {
    const { code, stderr } = await topup(args, stack.env);
    if (code !== 0) {
      throw new Error(stderr);
    }
  };

  const causes: Causes['causes'] = [
    {
      // This cause must be the first, because others stop the webhook worker.
      alarm: 'TopupGivenUp',
      how: 'a receiver whose certificate has expired, at its last try *',
      async begin() {
        receiver = createServer(expiredCertificate, (_request, response) => response.end());
        await new Promise<void>((resolve) => receiver?.listen(0, '127.0.0.1', resolve));
        const url = `https://localhost:${(receiver.address() as AddressInfo).port}/hook`;
        await rows('accounts').updateOne({ username: 'buyer2' }, { $set: { webhookUrl: url } });
        await announceChange(stack);
        const code = await addProduct(stack, [{ sellerId: await idOf('seller'), price: 10_000 }]);
        const transactionId = await purchase(other, code, '081234567803');
        const tried = {
          orderKey: transactionId,
          event: 'transaction.success',
          'attempts.error': /TLS certificate/,
        };
        const row = await eventually('a try', () => rows('deliveries').findOne({ ...tried, state: 'due' }));
        dead = row._id;
        // Skip the three days of retries.
        await rows('deliveries').updateOne(
          { _id: dead },
          { $set: { scheduleStep: retrySchedule.length - 1, nextAttemptAt: new Date() } },
        );
        const isDead = { _id: dead, state: 'dead' };
        await eventually('the delivery is dead', () => rows('deliveries').findOne(isDead), 30_000);
      },
      // By then, another cause has replaced the URL.
      end: () => act('webhooks', 'replay', dead),
    },
    {
      alarm: 'TopupDecisionsWait',
      how: 'a provider that returns one serial number twice',
      async begin() {
        const { code } = await sellers.play((call, response) => {
          const refId = call.url.searchParams.get('ref_id') ?? '';
          const sold = { status: '00', ref_id: refId, transaction_status: 'success', message: 'Success' };
          sendJson(response, 200, { ...sold, sn: 'SN-OF-ALL' });
        });
        await waitUntilFinal(stack, await purchase(buyer, code, '081234567804'));
        await purchase(buyer, code, '081234567805');
        await eventually('an open case', () => rows('cases').findOne({ resolvedAt: null }));
      },
      async end() {
        const open = await rows('cases').find({ resolvedAt: null }).toArray();
        for (const { _id } of open) {
          await act('case', 'resolve', _id, ...reason);
        }
      },
    },
    {
      alarm: 'TopupPaymentsWait',
      how: 'a deposit without a confirmation',
      async begin() {
        const web = await stack.startWeb({ DEPOSIT_MODE: 'confirm' });
        const asked = await apiClient(web.url, otherKey).post('/api/buyer/deposit', {
          amount: 50_000,
          ref_id: uniqueRef(),
        });
        await web.stop();
        depositId = String((await rows('deposits').findOne({ status: 'pending' }))?._id);
        if (asked.body.data.status !== 'pending') {
          throw new Error(JSON.stringify(asked.body));
        }
      },
      end: () => act('deposit', 'confirm', depositId, ...reason),
    },
  ];
  return {
    causes,
    async stop() {
      receiver?.close();
      await sellers.stop();
    },
  };
}
