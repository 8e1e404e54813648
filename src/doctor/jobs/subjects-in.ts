import type Joi from 'joi';
import type { Job } from '../../jobs/define-job.js';
import { isProviderQueue, getProviderQueue } from '../../providers/provider-queue.js';

/** Ids of something as payloads call them, such as `purchaseId`; `anyId` stands for each of them. */
export interface Ids {
  readonly [name: `${string}Id`]: string | undefined;
  /** Of a purchase: the seller in whose provider's queue it waits, or null. Absent: that is not known. */
  readonly waitsAt?: string | null;
}

interface Keys {
  id: `${string}Id` | null;
  /** Flags: each of them has a job of its own. */
  flags: string[];
}

const known = new WeakMap<Joi.ObjectSchema, Keys>();

/**
 * The subjects that a kind of job has for something with these ids, as the kind's own definition makes them: none where it is
 * about something else.
 */
export function listSubjects(job: Job<never>, ids: Ids): string[] {
  const { id: key, flags } = getKeys(job.data);
  const id = key === null ? undefined : (ids[key] ?? ids.anyId);
  if (key === null || id === undefined || isElsewhere(job, ids)) {
    return [];
  }
  const payloads = flags.reduce<object[]>(
    (made, flag) => made.flatMap((each) => [false, true].map((value) => ({ ...each, [flag]: value }))),
    [{ [key]: id }],
  );
  return payloads.map((data) => job.subject(data as never));
}

function isElsewhere({ queue }: Job<never>, { waitsAt }: Ids): boolean {
  return (
    waitsAt !== undefined &&
    isProviderQueue(queue) &&
    (waitsAt === null || queue.name !== getProviderQueue(waitsAt).name)
  );
}

/** A job names what it is about and whose it is; one that names an account alone is about that. */
function getKeys(schema: Joi.ObjectSchema): Keys {
  const found = known.get(schema) ?? readKeys(schema);
  known.set(schema, found);
  return found;
}

function readKeys(schema: Joi.ObjectSchema): Keys {
  const { keys = {} } = schema.describe() as { keys?: Record<string, { type?: string }> };
  const names = Object.keys(keys).filter((name): name is `${string}Id` => name.endsWith('Id'));
  return {
    id: names.find((name) => name !== 'accountId') ?? names[0] ?? null,
    flags: Object.entries(keys).flatMap(([name, { type }]) => (type === 'boolean' ? [name] : [])),
  };
}
