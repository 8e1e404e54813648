import { UnrecoverableError } from 'bullmq';
import { expect } from 'chai';
import Joi from 'joi';
import {
  defineJob,
  defineQueue,
  isNamed,
  buildPayload,
  readPayload,
  type Job,
} from '../../src/jobs/define-job.js';
import { processTypes } from '../../src/processes.js';

interface Data {
  thingId: string;
}

const job = defineJob<Data>({
  queue: defineQueue({ name: 'things', does: 'Tests payloads', concurrency: 1 }),
  name: 'do-thing',
  version: 2,
  data: Joi.object({ thingId: Joi.string() }),
  earlier: [{ name: 'thing', version: 1, read: ({ id }) => ({ thingId: id }) }],
  subject: ({ thingId }) => thingId,
});

function refusal(name: string, payload: unknown): unknown {
  try {
    readPayload(job, name, payload);
  } catch (error) {
    return error;
  }
  return null;
}

describe('job payloads', () => {
  it('carry their version and are read unchanged', () => {
    const payload = buildPayload(job, { thingId: 't1' });
    expect(payload).to.deep.equal({ v: 2, thingId: 't1' });
    expect(readPayload(job, 'do-thing', payload)).to.deep.equal({ thingId: 't1' });
  });

  it('are validated when they are added', () => {
    const add = (data: unknown) => () => buildPayload(job, data as Data);
    expect(add({})).to.throw('"thingId" is required');
    expect(add({ thingId: 7 })).to.throw('"thingId" must be a string');
    expect(add({ thingId: 't1', apiKey: 'secret' })).to.throw('"apiKey" is not allowed');
  });

  it('are validated when they run', () => {
    expect(refusal('do-thing', { v: 2 }))
      .to.be.instanceOf(UnrecoverableError)
      .with.property('message')
      .that.contains('"thingId" is required');
  });

  it('of an earlier release are converted', () => {
    expect(isNamed(job as unknown as Job<never>, 'thing')).to.equal(true);
    expect(readPayload(job, 'thing', { v: 1, id: 't1' })).to.deep.equal({ thingId: 't1' });
  });

  it('of an earlier release are validated too', () => {
    for (const payload of [{ v: 1 }, { v: 1, id: { $ne: null } }]) {
      expect(refusal('thing', payload)).to.be.instanceOf(UnrecoverableError);
    }
    expect(refusal('do-thing', null)).to.be.instanceOf(UnrecoverableError);
  });

  it('of an unknown version or name are refused', () => {
    for (const [name, payload] of [
      ['do-thing', { v: 3, thingId: 't1' }],
      ['do-thing', { v: 1, thingId: 't1' }],
      ['do-thing', { thingId: 't1' }],
      ['thing', { v: 2, thingId: 't1' }],
      ['other', { v: 2, thingId: 't1' }],
    ] as const) {
      expect(refusal(name, payload), JSON.stringify([name, payload]))
        .to.be.instanceOf(UnrecoverableError)
        .with.property('message')
        .that.matches(/does not know version/);
    }
  });
});

describe('jobs of the service', () => {
  const jobs = processTypes.flatMap(({ handlers }) => handlers.map((each) => each.job));

  it('are unique by queue and name, including those of earlier releases', () => {
    const names = jobs.flatMap((each) =>
      // A job may have had another name in an earlier version.
      [...new Set([each.name, ...(each.earlier ?? []).map((earlier) => earlier.name)])].map(
        (name) => `${each.queue.name} ${name}`,
      ),
    );
    expect(new Set(names).size).to.equal(names.length);
  });

  it('name their account, except scheduled jobs and requested verifications', () => {
    const nameless = jobs.filter(({ clock, data }) => !clock && !data.describe().keys?.['accountId']);
    expect(nameless.map(({ name }) => name)).to.deep.equal(['verify-ledger-now']);
  });

  it('on a schedule query an idle MongoDB less than once a second in total', () => {
    // Each of these jobs sends one command if it finds nothing to do.
    const perSecond = jobs.map(({ clock }) => (clock ? 1_000 / clock.everyMs : 0));
    expect(perSecond.reduce((sum, each) => sum + each, 0)).to.be.within(0.5, 1);
  });
});
