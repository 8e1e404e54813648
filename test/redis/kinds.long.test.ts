/** Runs the service's main tasks on a real server of each supported kind of Redis. */
import { expect } from 'chai';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { expectLedgerToBalance } from '../support/ledger.js';
import {
  buyUntilAnswered,
  waitUntilAllFinal,
  expectExecutionsToMatch,
  inParallel,
} from '../support/purchases.js';
import { startRedisCluster, startSentinel, startTlsRedis } from '../support/redis-servers.js';
import { sizes } from '../support/sizes.js';
import { startStack, type Stack } from '../support/stack.js';
import type { RunningProgram } from '../support/start-program.js';
import { expectMainJob } from './main-job.js';
import { requireTool } from '../support/require-tool.js';

describe('kinds of Redis', function () {
  this.timeout(120_000);
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) {
      await end();
    }
  });
  const stackOn = async (env: NodeJS.ProcessEnv): Promise<Stack> => {
    const stack = await startStack({ workers: ['all'], env });
    ends.push(() => stack.stop());
    return stack;
  };

  it('TLS with a private CA and a restricted user: runs the main job', async function () {
    requireTool(this, 'openssl');
    const prefix = uniqueRef('tls');
    const redis = await startTlsRedis(prefix);
    ends.push(() => redis.stop());
    const settings = { REDIS_URL: redis.secureUrl, QUEUE_PREFIX: prefix };
    const stack = await stackOn({ ...settings, REDIS_TLS_CA: redis.ca });
    await expectMainJob(stack);
    const hearing = () => redis.client.zcount(`${prefix}:hearers`, Date.now(), '+inf');
    await eventually('web and worker are subscribed', async () => (await hearing()) >= 2);

    const isReady = async ({ url }: RunningProgram) =>
      (await apiClient(url, '').get('/readyz')).body.redis as boolean;
    const strict = await stack.startWeb({ REDIS_TLS_CA: '' });
    expect(await isReady(strict)).to.equal(false);
    expect(strict.output()).to.match(
      /"code":"(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE)".*redis is unavailable/,
    );
    const lax = await stack.startWeb({ REDIS_TLS_CA: '', REDIS_TLS_SELF_SIGNED: 'true' });
    await eventually('Redis accepts any certificate', () => isReady(lax));
  });

  for (const { tag, busyNodes } of sizes.clusters) {
    it(`Cluster of three, ${tag === '' ? 'a hash tag for each queue' : `the hash tag ${tag}`}, keys on ${busyNodes} nodes: main job @sized`, async () => {
      const cluster = await startRedisCluster();
      ends.push(() => cluster.stop());
      const [, second] = cluster.nodes;
      const env = {
        REDIS_URL: second?.url,
        REDIS_CLUSTER: 'true',
        QUEUE_PREFIX: `${uniqueRef('kinds')}${tag}`,
      };
      const stack = await stackOn(env);
      await expectMainJob(stack);
      const key = (await stack.seed())['buyer']?.api_key ?? '';
      await buyUntilAnswered({ key, number: '081234561230' }, () => stack.baseUrl);
      // Without the lease, postings only conflict more often. No other check detects that.
      await eventually('a slot of daily totals is leased', async () => {
        const leases = await Promise.all(cluster.nodes.map(({ client }) => client.keys('*totals-slot*')));
        return leases.flat().length > 0;
      });
      const keyCounts = await Promise.all(cluster.nodes.map(({ client }) => client.dbsize()));
      expect(keyCounts.filter((keys) => keys > 0)).to.have.length(busyNodes);
    });
  }

  it('Sentinel: runs the main job and loses no purchase in a failover', async () => {
    const sentinel = await startSentinel();
    ends.push(() => sentinel.stop());
    const stack = await stackOn({ REDIS_URL: sentinel.url, REDIS_SENTINEL: sentinel.name });
    await expectMainJob(stack);
    const key = (await stack.seed())['buyer']?.api_key ?? '';
    await inParallel([...Array(60).keys()], 6, async (index) => {
      if (index === 20) {
        sentinel.master.process.kill('SIGKILL');
      }
      await buyUntilAnswered({ key, number: '081234561230' }, () => stack.baseUrl);
    });
    await eventually('the replica is master', async () =>
      (await sentinel.replica.client.info('replication')).includes('role:master'),
    );
    await waitUntilAllFinal(stack, 60_000);
    await expectExecutionsToMatch(stack);
    await expectLedgerToBalance(stack);
    await buyUntilAnswered({ key, number: '081234561230' }, () => stack.baseUrl);
    await waitUntilAllFinal(stack, 20_000);
  });
});
