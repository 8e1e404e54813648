/** The alarm about MongoDB cannot be stored in MongoDB, so it is kept elsewhere. */
import { expect } from 'chai';
import { env } from '../../config/env.js';
import { disconnectMongo } from '../../src/database/mongo.js';
import { diagnoseMongo } from '../../src/doctor/diagnose-databases.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { watchMongodb } from '../../src/signals/watch-mongodb.js';
import { connectMongoWhenReady } from '../support/connect-mongo.js';
import { eventually } from '../support/eventually.js';
import { startPrivateMongo, type Outage } from '../support/outage.js';

describe('alarm for an unreachable MongoDB', () => {
  let mongo: Outage;
  const { MONGODB_URI: usual } = env;
  before(async () => {
    mongo = await startPrivateMongo();
    env.MONGODB_URI = mongo.url;
    await connectMongoWhenReady();
    await connectRedis(null);
  });
  after(async () => {
    await disconnectMongo();
    env.MONGODB_URI = usual;
    await disconnectRedis();
    await mongo.stop();
  });

  it('is announced once at start and once at end by all processes, despite refusals', async () => {
    const messages: string[] = [];
    let refuses = 1;
    const send = (text: string) => {
      refuses -= 1;
      if (refuses < 0) {
        messages.push(text.split(':')[0] ?? '');
      }
      return Promise.resolve(refuses < 0 ? null : 'it returned 500');
    };
    const times = { forMs: 0, repeatIntervalMs: 0, seenMs: 600_000 };
    const [one, other] = [watchMongodb(send, times), watchMongodb(send, times)];
    const look = async () => [await one.answers(), await other.answers()];
    await mongo.cut();
    await eventually('MongoDB is unreachable', async () => !(await one.answers()));
    for (let n = 0; n < 3; n++) {
      expect(await look()).to.deep.equal([false, false]);
    }
    expect(messages).to.deep.equal(['[page] TopupMongodbDown']);
    await mongo.restore();
    refuses = 1;
    // Simulate that the process which announced the alarm was killed and restarted.
    const restarted = watchMongodb(send, times);
    await eventually('MongoDB is back', () => restarted.answers());
    // Another process has recently seen the outage, which may still continue there.
    await restarted.answers();
    expect(messages).to.have.length(1);
    await redis().del(`${env.QUEUE_PREFIX}:alarms:mongodb-away`);
    await eventually(
      'the end is announced',
      async () => (await restarted.answers()) && messages.length === 2,
    );
    await look();
    expect(messages).to.deep.equal(['[page] TopupMongodbDown', '[over] TopupMongodbDown']);
  });

  it('makes doctor fail until no process reports it any more', async () => {
    const row = async () => (await diagnoseMongo()).find(({ name }) => name === 'MongoDB of others');
    const messages: string[] = [];
    const send = (text: string) => Promise.resolve(messages.push(text)).then(() => null);
    const one = watchMongodb(send, { forMs: 0, repeatIntervalMs: 0, seenMs: 600_000 });
    await mongo.cut();
    await eventually('MongoDB is unreachable', async () => !(await one.answers()));
    await mongo.restore();
    await eventually('MongoDB is back', () => one.answers());
    expect(await row()).to.include({ status: 'fail' });
    await redis().del(`${env.QUEUE_PREFIX}:alarms:mongodb-away`);
    expect(await row()).to.equal(undefined);
    await eventually('the end is announced', async () => (await one.answers()) && messages.length === 2);
  });

  it('is announced as usual, not as missed, if only a Redis outage delayed it', async () => {
    const messages: string[] = [];
    let refuses = true;
    const send = (text: string) => {
      messages.push(...(refuses ? [] : [text.split(':')[0] ?? '']));
      return Promise.resolve(refuses ? 'it returned 500' : null);
    };
    const one = watchMongodb(send, { forMs: 0, repeatIntervalMs: 0, seenMs: 600_000 });
    await mongo.cut();
    redis().disconnect();
    await eventually('Redis is disconnected', () => Promise.resolve(redis().status === 'end'));
    await eventually('MongoDB is unreachable', async () => !(await one.answers()));
    await redis().connect();
    refuses = false;
    await eventually('the start is announced', async () => !(await one.answers()) && messages.length === 1);
    await mongo.restore();
    await eventually('MongoDB is back', () => one.answers());
    await redis().del(`${env.QUEUE_PREFIX}:alarms:mongodb-away`);
    await eventually('the end is announced', async () => (await one.answers()) && messages.length > 1);
    await one.answers();
    expect(messages).to.deep.equal(['[page] TopupMongodbDown', '[over] TopupMongodbDown']);
  });

  it('is announced once for start and end if it was refused until its end', async () => {
    const messages: string[] = [];
    let refuses = true;
    const send = (text: string) => {
      messages.push(...(refuses ? [] : [text]));
      return Promise.resolve(refuses ? 'it returned 500' : null);
    };
    const times = { forMs: 0, repeatIntervalMs: 0, seenMs: 600_000 };
    const one = watchMongodb(send, times);
    await mongo.cut();
    await eventually('MongoDB is unreachable', async () => !(await one.answers()));
    await mongo.restore();
    // Simulate that the process which tried to announce the alarm was killed.
    const others = [watchMongodb(send, times), watchMongodb(send, times)];
    const look = async () => (await Promise.all(others.map((each) => each.answers()))).every(Boolean);
    await eventually('MongoDB is back', look);
    await redis().del(`${env.QUEUE_PREFIX}:alarms:mongodb-away`);
    expect(await look()).to.equal(true);
    refuses = false;
    await eventually('it is announced', async () => (await look()) && messages.length > 0);
    await look();
    expect(messages).to.have.length(1);
    expect(messages[0]).to.match(
      /^\[over\] TopupMongodbDown: since .*could not be delivered while it lasted: \[page\] TopupMongodbDown/,
    );
  });

  it('announces its end once, even if Redis loses its data during the outage', async () => {
    const messages: string[] = [];
    const send = (text: string) => {
      messages.push(text.split(':')[0] ?? '');
      return Promise.resolve(null);
    };
    const times = { forMs: 0, repeatIntervalMs: 0, seenMs: 600_000 };
    const [one, other] = [watchMongodb(send, times), watchMongodb(send, times)];
    await mongo.cut();
    await eventually('MongoDB is unreachable', async () => !(await one.answers()));
    await other.answers();
    const keys = ['mongodb-down', 'mongodb-away', 'mongodb-down:over'];
    await redis().del(keys.map((each) => `${env.QUEUE_PREFIX}:alarms:${each}`));
    await mongo.restore();
    await eventually('MongoDB is back', () => other.answers());
    await eventually('the end is announced', async () => (await one.answers()) && messages.length === 2);
    for (let n = 0; n < 3; n++) {
      await one.answers();
      await other.answers();
    }
    expect(messages).to.deep.equal(['[page] TopupMongodbDown', '[over] TopupMongodbDown']);
  });
});
