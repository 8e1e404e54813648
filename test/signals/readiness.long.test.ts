/**
 * `/readyz` writes to MongoDB. If the database responds but refuses writes, the process is not
 * ready.
 */
import { expect } from 'chai';
import { request } from 'undici';
import { findMongodbProblem } from '../../src/samples/check-mongodb-writes.js';
import { disconnectMongo } from '../../src/database/mongo.js';
import { samples } from '../../src/samples/sample.model.js';
import { eventually } from '../support/eventually.js';
import { withFault, withProxy } from '../support/mongo-faults.js';
import { startPrivateMongo, type Outage } from '../support/outage.js';
import { startStack, type Stack } from '../support/stack.js';
import { connectMongoWhenReady } from '../support/connect-mongo.js';

interface Ready {
  status: number;
  mongodb: boolean;
  redis: boolean;
  reason?: string;
}

describe('readiness', function () {
  this.timeout(120_000);
  let mongo: Outage;
  let stack: Stack;

  before(async () => {
    mongo = await withProxy(await startPrivateMongo());
    stack = await startStack({ env: { MONGODB_URI: mongo.url } });
  });
  after(async () => {
    await stack.stop();
    await mongo.stop();
  });

  const look = async (): Promise<Ready> => {
    const { statusCode, body } = await request(`${stack.baseUrl}/readyz`);
    return { ...((await body.json()) as Ready), status: statusCode };
  };
  const untilReady = () => eventually('the process is ready', async () => (await look()).status === 200);
  const untilNot = () =>
    eventually('the process is not ready', async () => {
      const found = await look();
      return found.status === 503 ? found : null;
    });
  const refused = { status: 503, mongodb: false, redis: true, reason: 'MongoDB does not accept writes.' };
  const uri = () => stack.env['MONGODB_URI'] ?? '';
  const ofSamples = () => ({
    commands: ['update'],
    namespace: `${stack.db.databaseName}.samples`,
    uri: uri(),
  });

  it('is lost while MongoDB responds but refuses writes, and returns', async () => {
    await untilReady();
    await withFault({ ...ofSamples(), kind: 'forbidden', probability: 1 }, async () => {
      expect(await untilNot()).to.include(refused);
      // MongoDB still responds to a ping.
      await stack.db.command({ ping: 1 });
    });
    await untilReady();
  });

  it('is lost while there is no primary, and returns', async () => {
    await untilReady();
    await withFault({ ...ofSamples(), kind: 'step-down', ms: 6_000 }, async () => {
      expect(await untilNot()).to.include(refused);
    });
    await untilReady();
  });

  it('writes one document, at most once a second', async () => {
    await untilReady();
    const written = { _id: 'readiness' } as never;
    const at = async () => (await stack.db.collection('samples').findOne(written))?.['from'] as Date;
    const times = new Set<number>();
    const startedMs = performance.now();
    while (performance.now() - startedMs < 3_000) {
      await Promise.all(Array.from({ length: 10 }, look));
      times.add((await at()).getTime());
    }
    const seconds = (performance.now() - startedMs) / 1_000;
    expect(times.size).to.be.within(2, Math.ceil(seconds) + 1);
    const ids = await stack.db.collection('samples').distinct('_id');
    expect(ids.filter((id) => String(id).startsWith('readiness'))).to.deep.equal(['readiness']);
  });
});

describe('readiness write', () => {
  before(() => connectMongoWhenReady());
  after(() => disconnectMongo());

  it('is shared by concurrent callers', async () => {
    const asked = Array.from({ length: 20 }, findMongodbProblem);
    expect(new Set(asked).size).to.equal(1);
    expect(await asked[0]).to.equal(null);
    expect(await samples.findOne({ _id: 'readiness' })).to.have.property('from');
  });
});
