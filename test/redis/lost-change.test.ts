import { expect } from 'chai';
import { env } from '../../config/env.js';
import { buildSiblingKey, connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { publishChange } from '../../src/redis/publish-changes.js';
import { newId } from '../../src/shared/ids.js';
import {
  subscribeToChanges,
  subscribersKey,
  getSubscriptionEpoch,
  addListener,
  changeCountKey,
} from '../../src/redis/subscribe-changes.js';
import { eventually } from '../support/eventually.js';

describe('an invalidation lost between two nodes of a Cluster', () => {
  before(async () => {
    await connectRedis();
    await subscribeToChanges();
  });
  after(disconnectRedis);

  it('is detected at the next heartbeat and clears the cache once', async () => {
    await eventually('this process is subscribed', () => getSubscriptionEpoch() !== 0);
    let gaps = 0;
    let changes = 0;
    addListener({ onChange: () => (changes += 1), onGap: () => (gaps += 1) });
    // Increment the invalidation counter without publishing an invalidation.
    await redis().incr(changeCountKey);
    await eventually('the cache is cleared', () => gaps > 0);
    // The next invalidation arrives twice: directly in this process and through Redis.
    await publishChange({ id: newId(), by: newId(), phase: 'begin', collections: [], subjects: [] });
    await eventually('the next change arrives twice', () => changes === 2);
    expect(gaps).to.equal(1);
  });

  it('is counted on the node of its subscribers, with and without a hash tag', () => {
    expect(changeCountKey).to.equal(`${env.QUEUE_PREFIX}:told:{${subscribersKey}}`);
    expect(buildSiblingKey('{topup}:hearers', 'told')).to.equal('{topup}:hearers:told');
  });
});
