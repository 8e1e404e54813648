/** Jobs in Redis with fields that BullMQ cannot read, written by hand. */
import { expect } from 'chai';
import { diagnoseQueues } from '../../src/doctor/diagnose-work.js';
import { findJob } from '../../src/doctor/jobs/find-jobs.js';
import { listJobs } from '../../src/doctor/jobs/list-jobs.js';
import type { JobState } from '../../src/doctor/jobs/describe-job.js';
import { addJob } from '../../src/jobs/add-job.js';
import { handle } from '../../src/jobs/define-job.js';
import { openQueue } from '../../src/jobs/queues.js';
import { failUnreadable } from '../../src/jobs/read-job.js';
import { startWorkers, type RunningWorkers } from '../../src/jobs/start-workers.js';
import { redis } from '../../src/redis/connection.js';
import { payOutJob } from '../../src/settlements/settlement-jobs.js';
import { newId } from '../../src/shared/ids.js';
import { eventually } from '../support/eventually.js';
import { useDatabase } from '../webhooks/support/database.js';

const { queue } = payOutJob;
const readableJob = { name: 'pay-out', timestamp: '1', delay: '0', priority: '0', data: '{}', opts: '{}' };
const unreadable: Record<string, object> = {
  'no-data': { ...readableJob, data: '{"secret":"hunter2"' },
  'no-opts': { ...readableJob, opts: 'x' },
  'null-opts': { ...readableJob, opts: 'null' },
  'no-parent': { ...readableJob, parent: '{' },
};
/** BullMQ can read these fields, but it fails when it increments one or plans the next run. */
const uncountable: Record<string, object> = {
  'no-count': { ...readableJob, atm: 'x', ats: 'y' },
  'no-period': { ...readableJob, rjk: 'of-no-schedule' },
  'two-periods': { ...readableJob, opts: '{"repeat":{"every":1000,"pattern":"x"},"repeatJobKey":"q"}' },
};
const ids = Object.keys(unreadable);

describe('unreadable jobs', function () {
  this.timeout(90_000);
  let workers: RunningWorkers | null = null;
  after(async () => {
    await workers?.close();
    await openQueue(queue).obliterate({ force: true });
  });
  useDatabase();

  const listed = async (state: JobState) =>
    (await listJobs({ queue: queue.name, state }, { limit: 10 })).jobs.map(({ id, data, subject }) => ({
      id,
      data,
      subject,
    }));
  const shown = ids.map((id) => ({ id: `${id}@${queue.name}`, data: null, subject: null }));
  const diagnosed = async () => {
    const found = await diagnoseQueues();
    return found.find(({ name }) => name === `queue ${queue.name}`);
  };

  it('are reported by list, search and doctor while no worker takes them', async () => {
    for (const [id, fields] of Object.entries(unreadable)) {
      await redis().hset(openQueue(queue).toKey(id), fields);
      await redis().lpush(openQueue(queue).toKey('wait'), id);
    }
    expect(await listed('waiting')).to.deep.equal(shown);
    expect(await findJob(`no-opts@${queue.name}`)).to.include({ state: 'waiting', data: null });
    expect((await diagnosed())?.detail).to.match(
      /^4 waiting.*; job (no-data|no-opts|null-opts|no-parent) cannot be read$/,
    );
  });

  it('fail with a reason when a worker takes them, and other jobs are done', async () => {
    const done: string[] = [];
    workers = startWorkers([
      handle(payOutJob, ({ settlementId }) => Promise.resolve(done.push(settlementId))),
    ]);
    const settlementId = newId();
    await addJob(payOutJob, { settlementId, accountId: newId() });
    await eventually('all jobs fail', async () => (await listed('failed')).length === ids.length, 60_000);
    expect(await listed('failed')).to.have.deep.members(shown);
    expect(await listed('active')).to.deep.equal([]);
    const found = await findJob(`no-data@${queue.name}`);
    expect(found).to.include({ state: 'failed', refusal: 'unreadable' });
    expect(found.failures[0]?.reason).to.contain('Its data cannot be read');
    expect(JSON.stringify(found)).to.not.contain('hunter2');
    await eventually('the other job is done', () => done.includes(settlementId));
    expect((await diagnosed())?.detail).to.match(
      /; job (no-data|no-opts|null-opts|no-parent) cannot be read/,
    );
  });

  it('do not include jobs that BullMQ writes, even with fractional milliseconds', async () => {
    const whole = {
      ...readableJob,
      delay: '10000.5',
      parent: '{"id":"1","queueKey":"k"}',
      atm: '2',
      processedOn: '1',
    };
    const ofSchedule = { ...readableJob, rjk: 's', opts: '{"repeat":{"every":1000,"count":3},"attempts":1}' };
    for (const fields of [whole, ofSchedule]) {
      const key = openQueue(queue).toKey('whole');
      await redis().hset(key, fields);
      await failUnreadable(queue, 'whole');
      expect(await redis().hgetall(key)).to.deep.equal(fields);
      await redis().del(key);
    }
  });

  it('fail if BullMQ cannot increment a field or plan the next run', async () => {
    for (const [id, fields] of Object.entries(uncountable)) {
      await redis().hset(openQueue(queue).toKey(id), fields);
      await redis().lpush(openQueue(queue).toKey('wait'), id);
    }
    workers ??= startWorkers([handle(payOutJob, () => Promise.resolve())]);
    for (const [id, field] of [
      ['no-count', 'atm and ats'],
      ['no-period', 'rjk'],
      ['two-periods', 'opts'],
    ] as const) {
      const failed = await eventually(
        `${id} fails`,
        async () => {
          const found = await findJob(`${id}@${queue.name}`);
          return found.state === 'failed' && found;
        },
        60_000,
      );
      expect(failed.failures[0]?.reason).to.contain(`Its ${field} cannot be read`);
    }
  });
});
