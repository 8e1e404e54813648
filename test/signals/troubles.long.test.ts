/** Alarms without Prometheus about troubles that only the affected process can detect. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { connectRedis, disconnectRedis } from '../../src/redis/connection.js';
import { describeProcesses, announcePresence } from '../../src/redis/presence.js';
import { recordIncident, countRecentIncidents } from '../../src/shared/incident-counts.js';
import { eventually } from '../support/eventually.js';
import { withFault } from '../support/mongo-faults.js';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { startStack, type Stack } from '../support/stack.js';
import { Redis } from 'ioredis';

interface TroubleReport {
  troubles: { failedPostings: number; refusedConnections: number; lagMs: number; isNotReady: boolean };
}

describe('troubles reported by a process', function () {
  this.timeout(120_000);

  describe('in the test process', () => {
    before(() => connectRedis());
    after(() => disconnectRedis());

    it('are none while all is well, and count incidents', async () => {
      const type = `t${randomUUID().slice(0, 8)}`;
      let isNotReady = false;
      const before = countRecentIncidents();
      const presence = announcePresence(type, {
        troublesNow: () => ({ ...countRecentIncidents(), lagMs: 0, isNotReady }),
      });
      const readTroubles = async () =>
        (await describeProcesses())?.find((each) => each.type === type)?.troubles;
      const first = await eventually('the report is stored', async () => (await readTroubles()) ?? null);
      expect(first).to.include({ isNotReady: false, ...before });
      recordIncident('unsentWebhooks');
      isNotReady = true;
      await eventually(
        'the report says "not ready"',
        async () => (await readTroubles())?.isNotReady === true,
      );
      expect((await readTroubles())?.unsentWebhooks).to.equal(before.unsentWebhooks + 1);
      await presence.stop();
    });
  });

  describe('in a real process', () => {
    let stack: Stack;
    let redis: Redis;
    before(async () => {
      redis = new Redis(process.env['REDIS_URL'] ?? '');
      stack = await startStack({ web: false });
    });
    after(async () => {
      await stack.stop();
      redis.disconnect();
    });

    it('count failed postings and refused connections, without a scrape', async () => {
      const accounts = await stack.seed();
      const uri = new URL(stack.env['MONGODB_URI'] ?? '');
      uri.searchParams.set('appName', `pressed-${randomUUID().slice(0, 8)}`);
      const web = await stack.startWeb({ MONGODB_URI: uri.toString(), MONGODB_POOL_SIZE: '1' });
      const buyer = apiClient(web.url, accounts['buyer']?.api_key ?? '');
      const readTroubles = async () => {
        const keys = await redis.keys(`${stack.env['QUEUE_PREFIX']}:process-says:*`);
        const [text] = await Promise.all(keys.map((key) => redis.get(key)));
        return (JSON.parse(text ?? '{}') as Partial<TroubleReport>).troubles;
      };
      await eventually('the process has no trouble', async () => {
        const found = await readTroubles();
        return found?.isNotReady === false && found.failedPostings === 0 && found.refusedConnections === 0;
      });
      const deposit = () => buyer.post('/api/buyer/deposit', { amount: 50_000, ref_id: uniqueRef() });
      const database = new MongoClient(uri.toString()).db().databaseName;
      await withFault(
        {
          commands: ['insert', 'update', 'findAndModify', 'bulkWrite'],
          kind: 'forbidden',
          probability: 1,
          uri: uri.toString(),
          namespace: `${database}.journals`,
        },
        async () => {
          // The call fails with a 500 response, which the contract does not contain.
          expect(String(await deposit().catch((error: unknown) => error))).to.include('answered 500');
        },
      );
      await eventually(
        'the posting is reported',
        async () => ((await readTroubles())?.failedPostings ?? 0) > 0,
      );
      await withFault(
        { commands: ['find', 'aggregate'], kind: 'pause', probability: 1, ms: 4_000, uri: uri.toString() },
        () => Promise.all(Array.from({ length: 20 }, () => buyer.get('/api/buyer/deposits'))),
      );
      await eventually(
        'the connections are reported',
        async () => ((await readTroubles())?.refusedConnections ?? 0) > 10,
      );
    });
  });
});
