/** What the console plots of purchases, by five minutes, of all accounts together: how long they took from acceptance to their end. */
import { bucketOf, countOf, quantileOf } from '../samples/latency-buckets.js';
import { readSamples, sumOfSlots } from '../samples/read-samples.js';
import { countSample } from '../samples/sampling.js';
import { hourMs, type Slot } from '../samples/sample.model.js';

const subject = 'purchases';

/** A purchase has come to its end, whatever that is. */
export function sampleDuration(durationMs: number): void {
  countSample(subject, [bucketOf(durationMs)]);
}

/** Of purchases that came to their end in some time; null: none did. Seconds. */
export interface Durations {
  ended: number;
  median_s: number | null;
  p95_s: number | null;
}

/** Of some hours, one after the other, by their beginnings, and of all of them together. */
export async function durationsByHour(
  hours: readonly number[],
): Promise<{ of: (fromMs: number) => Durations; all: Durations }> {
  const [sinceMs = 0] = hours;
  const found = await readSamples([subject], { sinceMs, untilMs: sinceMs + hours.length * hourMs });
  const slots = found.get(subject)?.slots ?? [];
  const within = (fromMs: number, untilMs: number) =>
    sumOfSlots(
      slots.filter((each) => each.fromMs >= fromMs && each.fromMs < untilMs).map(({ slot }) => slot),
    );
  return {
    of: (fromMs) => durationsOf(within(fromMs, fromMs + hourMs)),
    all: durationsOf(within(sinceMs, Infinity)),
  };
}

function durationsOf(slot: Slot): Durations {
  const secondsOf = (share: number) => {
    const ms = quantileOf(slot, share);
    return ms === null ? null : ms / 1_000;
  };
  return { ended: countOf(slot), median_s: secondsOf(0.5), p95_s: secondsOf(0.95) };
}
