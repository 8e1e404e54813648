import { hourMs, getSampleId, samples, slotMs, type SampledEvent, type Slot } from './sample.model.js';

export interface ReadSamples {
  /**
   * Every five-minute slot of the span, earliest first. A slot without counters counted nothing.
   */
  slots: { fromMs: number; slot: Slot }[];
  /** Events of the span, earliest first. */
  events: SampledEvent[];
}

/** Maximum number of hours in one query, over all subjects. */
const hoursMax = 2_000;

/**
 * Reads the samples of subjects, by subject.
 * @param span.names Counters to read. By default all counters are read. For many subjects, a
 * selection takes a tenth of the work.
 * @throws Error for more than 2,000 hours. Callers must limit their spans.
 */
export async function readSamples(
  subjects: readonly string[],
  { sinceMs, untilMs, names }: { sinceMs: number; untilMs: number; names?: readonly string[] },
): Promise<Map<string, ReadSamples>> {
  const firstMs = Math.floor(sinceMs / slotMs) * slotMs;
  const hours: number[] = [];
  for (let hour = Math.floor(firstMs / hourMs) * hourMs; hour < untilMs; hour += hourMs) {
    hours.push(hour);
  }
  if (hours.length * subjects.length > hoursMax) {
    throw new Error(`Samples of ${subjects.length} subjects over ${hours.length} hours are too many`);
  }
  const idsOf = new Map(
    subjects.map((subject) => [subject, hours.map((hour) => getSampleId(subject, hour))]),
  );
  const filter = { _id: { $in: [...idsOf.values()].flat() } };
  const found = await samples
    .find(filter, { batchSize: hoursMax, ...(names && { projection: buildProjection(names) }) })
    .toArray();
  const byId = new Map(found.map((each) => [each._id, each]));
  const read = new Map<string, ReadSamples>();
  for (const [subject, ids] of idsOf) {
    const ofHours = ids.map((id) => byId.get(id));
    const slots: ReadSamples['slots'] = [];
    for (let fromMs = firstMs; fromMs < untilMs; fromMs += slotMs) {
      const hour = ofHours[Math.floor((fromMs - (hours[0] ?? 0)) / hourMs)];
      slots.push({ fromMs, slot: hour?.slots?.[(fromMs % hourMs) / slotMs] ?? {} });
    }
    const events = ofHours.flatMap((hour) => hour?.events ?? []);
    read.set(subject, { slots, events: events.filter(({ at }) => at.getTime() >= firstMs) });
  }
  return read;
}

function buildProjection(names: readonly string[]): Record<string, 1> {
  const slots = Array.from({ length: hourMs / slotMs }, (_, slot) => slot);
  return Object.fromEntries(slots.flatMap((slot) => names.map((name) => [`slots.${slot}.${name}`, 1])));
}

/**
 * Sums counters.
 * @param values Names of gauges. Their last value counts instead of the sum.
 */
export function sumSlots(slots: readonly Slot[], values: readonly string[] = []): Slot {
  const sum = new Map<string, number>();
  for (const slot of slots) {
    for (const [name, value] of Object.entries(slot)) {
      sum.set(name, values.includes(name) ? value : (sum.get(name) ?? 0) + value);
    }
  }
  return Object.fromEntries(sum);
}
