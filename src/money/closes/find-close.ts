import { dayCloses, type DayClose } from './day-close.model.js';

/** A day whose root stands. */
export type ClosedDay = DayClose & {
  state: 'closed';
  content: NonNullable<DayClose['content']>;
  root: string;
};

/** The last day that is closed, as a majority holds it, or null before the first. */
export async function lastClosedDay(): Promise<ClosedDay | null> {
  const [newest, before] = (await dayCloses
    .find({}, { readConcern: 'majority' })
    .sort({ _id: -1 })
    .limit(2)
    .toArray()) as ClosedDay[];
  // The one after it may be under way.
  return (newest?.state === 'closed' ? newest : before) ?? null;
}
