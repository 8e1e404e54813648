/** What the console plots of purchases, by five minutes, of all accounts together: how long they took from acceptance to their end. */
import { getBucketName, countSlot, computeQuantile } from '../samples/latency-buckets.js';
import { readSamples, sumSlots } from '../samples/read-samples.js';
import { countSample } from '../samples/sampling.js';
import { hourMs, type Slot } from '../samples/sample.model.js';

const purchasesSubject = 'purchases';

/** A purchase has come to its end, whatever that is. */
export function sampleDuration(durationMs: number): void {
  countSample(purchasesSubject, [getBucketName(durationMs)]);
}

/** Of purchases that came to their end in some time; null: none did. Seconds. */
export interface Durations {
  ended: number;
  median_s: number | null;
  p95_s: number | null;
}

/** Of some hours, one after the other, by their beginnings, and of all of them together. */
export async function readDurationsByHour(
  hours: readonly number[],
): Promise<{ of: (fromMs: number) => Durations; all: Durations }> {
  const [sinceMs = 0] = hours;
  const found = await readSamples([purchasesSubject], { sinceMs, untilMs: sinceMs + hours.length * hourMs });
  const slots = found.get(purchasesSubject)?.slots ?? [];
  const within = (fromMs: number, untilMs: number) =>
    sumSlots(slots.filter((each) => each.fromMs >= fromMs && each.fromMs < untilMs).map(({ slot }) => slot));
  return {
    of: (fromMs) => getDurations(within(fromMs, fromMs + hourMs)),
    all: getDurations(within(sinceMs, Infinity)),
  };
}

function getDurations(slot: Slot): Durations {
  const secondsOf = (share: number) => {
    const ms = computeQuantile(slot, share);
    return ms === null ? null : ms / 1_000;
  };
  return { ended: countSlot(slot), median_s: secondsOf(0.5), p95_s: secondsOf(0.95) };
}
