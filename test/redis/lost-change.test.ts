import { expect } from 'chai';
import { env } from '../../config/env.js';
import { buildSiblingKey, connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { publishChange } from '../../src/redis/publish-changes.js';
import { newId } from '../../src/shared/ids.js';
import {
  subscribeToChanges,
  hearersKey,
  getSubscriptionEpoch,
  addListener,
  toldKey,
} from '../../src/redis/subscribe-changes.js';
import { eventually } from '../support/eventually.js';

describe('a change that got lost between two nodes of a Cluster', () => {
  before(async () => {
    await connectRedis();
    await subscribeToChanges();
  });
  after(disconnectRedis);

  it('is missed by the next beat: whoever hears forgets all, once', async () => {
    await eventually('this process to hear', () => getSubscriptionEpoch() !== 0);
    let gaps = 0;
    let heard = 0;
    addListener({ onChange: () => (heard += 1), onGap: () => (gaps += 1) });
    // What telling it does, without what would be heard.
    await redis().incr(toldKey);
    await eventually('all to be forgotten', () => gaps > 0);
    // The next one comes after it, once from here and once from Redis.
    await publishChange({ id: newId(), by: newId(), phase: 'begin', collections: [], subjects: [] });
    await eventually('the next change to be heard', () => heard === 2);
    expect(gaps).to.equal(1);
  });

  it('is counted on the node of those who hear, with and without a hash tag', () => {
    expect(toldKey).to.equal(`${env.QUEUE_PREFIX}:told:{${hearersKey}}`);
    expect(buildSiblingKey('{topup}:hearers', 'told')).to.equal('{topup}:hearers:told');
  });
});
