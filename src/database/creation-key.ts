/** Lists by when something was made: ids (UUIDs of version 7 without dashes) rise with time, and a page begins after a key. */
import { ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { firstIdAt } from '../shared/ids.js';

export interface CreationKey {
  _id: string;
  createdAt: Date;
}

/** Ids of earlier releases, and of processes that had not measured the fleet's clock yet, go by their host's. */
const clockSkewMs = 60_000;

/** Ids among which all of a time are: whoever must not see others looks at `createdAt` as well. */
export function getIdRange(
  key: CreationKey | null,
  { since, until }: { since?: Date | undefined; until?: Date | undefined },
): { $gte?: string; $lt?: string } {
  const newest = key?._id ?? (until && firstIdAt(until.getTime() + clockSkewMs));
  return {
    ...(since && { $gte: firstIdAt(since.getTime() - clockSkewMs) }),
    ...(newest !== undefined && { $lt: newest }),
  };
}

export function getEarlier(one: Date | undefined, other: Date | undefined): Date | undefined {
  return one && other ? (one < other ? one : other) : (one ?? other);
}

export function formatCreationKey({ createdAt, _id }: CreationKey): string {
  return `${createdAt.getTime()}-${_id}`;
}

/** @throws ValidationError for an `after` that no page has given. */
export function parseCreationKey(after: string): CreationKey {
  const [, ms = '', _id = ''] = /^(\d{1,15})-([\w-]{1,120})$/.exec(after) ?? [];
  if (_id === '') {
    throw new ValidationError([{ field: 'after', message: asWritten('after must be the `next` of a page') }]);
  }
  return { _id, createdAt: new Date(Number(ms)) };
}
