/**
 * Counters for the plots of the console. A process writes its counts to MongoDB in one bulk write
 * every ten seconds, if there are any. Callers never wait.
 */
import type { AnyBulkWriteOperation, UpdateFilter } from 'mongodb';
import { env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { hourMs, getSampleId, samples, slotMs, type SampledEvent, type SampleHour } from './sample.model.js';

const writeEveryMs = env.APP_MODE === 'live' ? 10_000 : 1_000;
/** Maximum number of events kept per hour. The newest events are kept. */
const eventsMax = 50;

interface BufferedHour {
  from: Date;
  counts: Map<string, number>;
  values: Map<string, number>;
  events: SampledEvent[];
}

let gathered = new Map<string, BufferedHour>();
let timer: NodeJS.Timeout | null = null;

/** Increments counters of the current slot. */
export function countSample(subject: string, names: readonly string[]): void {
  const { hour, slot } = getGatheredHour(subject);
  for (const name of names) {
    const path = `slots.${slot}.${name}`;
    hour.counts.set(path, (hour.counts.get(path) ?? 0) + 1);
  }
}

/** Sets a value of the current five-minute slot. A later value of the same slot replaces it. */
export function noteSample(subject: string, name: string, value: number): void {
  const { hour, slot } = getGatheredHour(subject);
  hour.values.set(`slots.${slot}.${name}`, value);
}

export function sampleEvent(subject: string, what: string, because: string | null): void {
  const { hour } = getGatheredHour(subject);
  hour.events.push({ at: new Date(nowMs()), what, because });
  hour.events.splice(0, hour.events.length - eventsMax);
}

/**
 * Writes the collected counts. Never throws: counts that cannot be written are missing from the
 * plots.
 */
export async function writeSamples(): Promise<void> {
  if (timer) {
    clearTimeout(timer);
    timer = null;
  }
  const found = gathered;
  gathered = new Map();
  if (found.size === 0) {
    return;
  }
  try {
    await samples.bulkWrite([...found].map(buildWrite), { ordered: false });
  } catch (error) {
    // Not retried, because counts that were written would be counted twice.
    logger.warn('samples for charts were not written', { subjects: found.size, error });
  }
}

function getGatheredHour(subject: string): { hour: BufferedHour; slot: number } {
  const atMs = nowMs();
  const fromMs = Math.floor(atMs / hourMs) * hourMs;
  const id = getSampleId(subject, fromMs);
  const hour = gathered.get(id) ?? {
    from: new Date(fromMs),
    counts: new Map<string, number>(),
    values: new Map<string, number>(),
    events: [],
  };
  gathered.set(id, hour);
  timer ??= setTimeout(() => {
    void writeSamples();
  }, writeEveryMs).unref();
  return { hour, slot: Math.floor((atMs - fromMs) / slotMs) };
}

function buildWrite([_id, { from, counts, values, events }]: [
  string,
  BufferedHour,
]): AnyBulkWriteOperation<SampleHour> {
  const update: UpdateFilter<SampleHour> = {
    $setOnInsert: { from },
    ...(counts.size > 0 && { $inc: Object.fromEntries(counts) }),
    ...(values.size > 0 && { $set: Object.fromEntries(values) }),
    ...(events.length > 0 && { $push: { events: { $each: events, $slice: -eventsMax } } }),
  };
  return { updateOne: { filter: { _id }, update, upsert: true } };
}
