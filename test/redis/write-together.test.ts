import { expect } from 'chai';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { newId } from '../../src/shared/ids.js';

describe('Redis commands of one turn of the event loop', () => {
  before(() => connectRedis());
  after(() => disconnectRedis());

  it('are written together and in order, turn after turn', async () => {
    for (const round of [1, 2, 3]) {
      const key = `${process.env['QUEUE_PREFIX'] ?? ''}:together:${newId()}`;
      const { stream } = redis();
      const answers = Array.from({ length: 20 }, (_, n) => redis().rpush(key, `${n}`));
      expect(stream.writableCorked, `round ${round}`).to.equal(1);
      expect(stream.writableLength).to.be.greaterThan(20 * key.length);
      expect(await Promise.all(answers)).to.deep.equal(Array.from({ length: 20 }, (_, n) => n + 1));
      expect(await redis().lrange(key, 0, -1)).to.deep.equal(Array.from({ length: 20 }, (_, n) => `${n}`));
      expect([stream.writableCorked, stream.writableLength]).to.deep.equal([0, 0]);
      await redis().del(key);
    }
  });

  it('do not block after a lost connection', async () => {
    const before = redis().stream;
    const lost = redis().ping();
    before.destroy();
    await Promise.allSettled([lost]);
    await connectRedis();
    expect(redis().stream).not.to.equal(before);
    expect(await Promise.all([redis().ping(), redis().ping()])).to.deep.equal(['PONG', 'PONG']);
  });
});
