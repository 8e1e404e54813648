import { lookUp } from '../shared/look-up.js';
import { hourMs, sampleId, samples, slotMs, type SampledEvent, type Slot } from './sample.model.js';

export interface ReadSamples {
  /** Every five minutes of the time asked for, the earliest first; without a counter: nothing was counted. */
  slots: { fromMs: number; slot: Slot }[];
  /** The earliest first. */
  events: SampledEvent[];
}

/** Hours of all subjects together that one question may be about. */
const hoursMax = 2_000;

/**
 * What was counted about each of these subjects, by their ids.
 * @throws Error where that are more than 2,000 hours: whoever asks has a bound.
 */
export async function readSamples(
  subjects: readonly string[],
  { sinceMs, untilMs }: { sinceMs: number; untilMs: number },
): Promise<Map<string, ReadSamples>> {
  const firstMs = Math.floor(sinceMs / slotMs) * slotMs;
  const hours: number[] = [];
  for (let hour = Math.floor(firstMs / hourMs) * hourMs; hour < untilMs; hour += hourMs) {
    hours.push(hour);
  }
  if (hours.length * subjects.length > hoursMax) {
    throw new Error(`Figures of ${subjects.length} subjects and ${hours.length} hours are too many`);
  }
  const ids = subjects.flatMap((subject) => hours.map((hour) => sampleId(subject, hour)));
  const found = await samples.find({ _id: { $in: ids } }).toArray();
  const byId = new Map(found.map((each) => [each._id, each]));
  return new Map(
    subjects.map((subject) => {
      const slots: ReadSamples['slots'] = [];
      for (let fromMs = firstMs; fromMs < untilMs; fromMs += slotMs) {
        const hour = byId.get(sampleId(subject, fromMs));
        slots.push({ fromMs, slot: hour?.slots?.[(fromMs % hourMs) / slotMs] ?? {} });
      }
      const events = hours.flatMap((hour) => byId.get(sampleId(subject, hour))?.events ?? []);
      return [subject, { slots, events: events.filter(({ at }) => at.getTime() >= firstMs) }];
    }),
  );
}

/** @param values The names of what is no count: of these the last is kept. */
export function sumOfSlots(slots: readonly Slot[], values: readonly string[] = []): Slot {
  const sum: Slot = {};
  for (const [name, value] of slots.flatMap((slot) => Object.entries(slot))) {
    sum[name] = values.includes(name) ? value : (lookUp(sum, name) ?? 0) + value;
  }
  return sum;
}
