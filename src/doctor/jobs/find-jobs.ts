/**
 * Finds jobs by their subject, from which BullMQ's deduplication id is derived. So all jobs of a
 * purchase are found with one lookup per kind of job, however long the queues are (decision 046).
 */
import { getDeduplicationId } from '../../jobs/add-job.js';
import type { Job, Queue } from '../../jobs/define-job.js';
import { getFailingJobId, findLastFailedJobId } from '../../jobs/failed-rounds.js';
import { failingJobs, type FailingJob } from '../../jobs/failing-job.model.js';
import { openQueue } from '../../jobs/queues.js';
import { readJob } from '../../jobs/read-job.js';
import { findCurrentJobs, findCurrentQueues } from '../../processes.js';
import { DependencyError, NotFoundError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import {
  getJobId,
  jobStates,
  describeLostJob,
  buildRawJob,
  describeJobs,
  getSubjectId,
  type RawJob,
  type JobDescription,
} from './describe-job.js';
import { listSubjects, type SubjectIds, findDocuments, type JobDocument } from './job-subjects.js';

export interface FoundJobs {
  /** Documents that match the input, whether or not they still have jobs. */
  things: JobDocument[];
  jobs: JobDescription[];
}

interface WantedJob {
  job: Job<never>;
  subject: string;
}

const foundMax = 200;

/**
 * Finds jobs of every kind and state by their subject.
 *
 * @param what One of these: id or `ref_id` of a purchase; id of a settlement, report, delivery,
 *   receiver or bill; username or id of an account. For an account, jobs of its open documents are
 *   included.
 * @throws DependencyError while a database is unavailable.
 */
export async function findJobs(what: string): Promise<FoundJobs> {
  const [things, kinds] = await Promise.all([findDocuments(what), findCurrentJobs()]);
  // Try the input as any kind of id, because receivers, bills and meters have no page in the
  // console.
  const all: SubjectIds[] = [{ anyId: what }, ...things.flatMap(({ subjects }) => subjects)];
  const wanted = kinds.flatMap((job) =>
    [...new Set(all.flatMap((ids) => listSubjects(job, ids)))].map((subject) => ({ job, subject })),
  );
  const accountIds = things.flatMap(({ kind, id }) => (kind === 'account' ? [id] : []));
  const jobs = await describeWanted(wanted, accountIds);
  return { things, jobs: jobs.slice(0, foundMax) };
}

/**
 * Finds one job by its shown id, or by its name and subject (`pay-out:01a1…`).
 * @throws NotFoundError if there is no such job.
 * @throws DependencyError while a database is unavailable.
 */
export async function findJob(id: string): Promise<JobDescription> {
  const raw = await findRawJob(id);
  const [found] = raw ? await describeJobs([raw]) : await findJobsById(id);
  if (!found) {
    throw new NotFoundError(
      asWritten(
        `There is no job ${id}; it may have ended. To search by subject: topup job find <id or username>`,
      ),
    );
  }
  return found;
}

/**
 * Finds the job in Redis by an id such as `812@settlements`. Null if there is none, or if the id
 * has another form.
 */
export async function findRawJob(id: string): Promise<RawJob | null> {
  const at = id.lastIndexOf('@');
  const name = id.slice(at + 1);
  const found = at < 0 ? undefined : (await findCurrentQueues()).find(({ queue }) => queue.name === name);
  return found ? findInRedis(found.queue, id.slice(0, at)) : null;
}

async function findJobsById(id: string): Promise<JobDescription[]> {
  const kinds = (await findCurrentJobs()).filter(({ name }) => id.startsWith(`${name}:`));
  return describeWanted(
    kinds.map((job) => ({ job, subject: id.slice(job.name.length + 1) })),
    [],
  );
}

async function describeWanted(wanted: WantedJob[], accountIds: string[]): Promise<JobDescription[]> {
  const marks = wanted.map(({ job, subject }) => getFailingJobId(job.name, subject));
  const [raw, rows] = await Promise.all([findRawJobs(wanted), findFailingRows(marks, accountIds)]);
  const shown = new Set(raw.map(getSubjectId));
  const seen = [
    ...(await describeJobs(raw)),
    ...rows.filter(({ _id }) => !shown.has(_id)).map(describeLostJob),
  ];
  return seen.sort((a, b) => rank(a) - rank(b) || Number(b.addedAt) - Number(a.addedAt));
}

/** Returns the sort rank of a job. Failed jobs come first. */
function rank({ failures }: JobDescription): number {
  return failures.length > 0 ? 0 : 1;
}

async function findRawJobs(wanted: WantedJob[]): Promise<RawJob[]> {
  const found = await Promise.all(wanted.map(findRawJobsOfSubject)).catch((error: unknown) => {
    throw new DependencyError(error);
  });
  return [...new Map(found.flat().map((each) => [getJobId(each), each])).values()];
}

async function findRawJobsOfSubject({ job, subject }: WantedJob): Promise<RawJob[]> {
  const opened = openQueue(job.queue);
  const ids = await Promise.all([
    opened.getDeduplicationJobId(getDeduplicationId(job, subject)),
    findLastFailedJobId(job, subject),
  ]);
  const known = ids.filter((id) => id !== null);
  const found = await Promise.all(known.map((id) => findInRedis(job.queue, id)));
  return found.filter((each) => each !== null);
}

async function findInRedis(queue: Queue, id: string): Promise<RawJob | null> {
  try {
    const state = await openQueue(queue).getJobState(id);
    const known = jobStates.find((each) => each === state);
    // Read the job only after its state. A queue also has keys such as `id` and `stalled-check`,
    // which are not jobs.
    const bullJob = known && (await readJob(queue, id));
    return bullJob ? buildRawJob(queue, bullJob, known) : null;
  } catch (error) {
    throw new DependencyError(error);
  }
}

async function findFailingRows(marks: string[], accountIds: string[]): Promise<FailingJob[]> {
  const [named, ofAccounts] = await Promise.all([
    failingJobs.find({ _id: { $in: [...new Set(marks)] } }).toArray(),
    failingJobs
      .find({ 'payload.accountId': { $in: accountIds } })
      .sort({ lastAt: -1 })
      .limit(foundMax)
      .toArray(),
  ]);
  return [...new Map([...named, ...ofAccounts].map((row) => [row._id, row])).values()];
}
