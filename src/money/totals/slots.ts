/**
 * Slots avoid write conflicts between concurrent groups on a seller's totals: each group writes its
 * own document. A process leases slots on demand and uses each slot for one group at a time. If two
 * groups use the same slot, MongoDB rejects one of them, which is retried.
 *
 * Each shard range has its own slots, stored on its shard.
 */
import { limits } from '../../../config/limits.js';
import { leaseFirstFree, type Lease } from '../../redis/lease.js';

const leaseMs = 30_000;
/**
 * Safety margin in milliseconds before the end of a lease. A group must be written before another
 * process can lease its slot.
 */
const marginMs = 10_000;
const leaseRetryMs = 1_000;
/**
 * Maximum number of slots that one process leases per range. It covers the shared lanes and a few
 * lanes of single accounts.
 */
const leasedMax = limits.postingLanes + 2;

function getLeaseNames(range: number): string[] {
  const first = getFirstSlot(range);
  return Array.from({ length: limits.totalsSlotsLeased }, (_, index) => `totals-slot-${first + index}`);
}

/** Returns the shard range of a slot (src/database/sharding.ts). */
export function getSlotRange(slot: number): number {
  return Math.floor(slot / limits.totalsSlots);
}

function getFirstSlot(range: number): number {
  return range * limits.totalsSlots;
}

interface LeasedSlot {
  lease: Lease;
  isTaken: boolean;
}

/** The slots that this process leases in one range. */
interface Slots {
  leased: LeasedSlot[];
  askedAtMs: number;
}

const slotsByRange = new Map<number, Slots>();

/** Takes a slot for one group. Call `giveBack` after the write, also if the write fails. */
export function takeSlot(range: number): { slot: number; giveBack(): void } {
  const slots = slotsByRange.get(range) ?? { leased: [], askedAtMs: -Infinity };
  slotsByRange.set(range, slots);
  slots.leased = slots.leased.filter(({ lease, isTaken }) => isTaken || lease.remainingMs() > marginMs);
  const free = slots.leased.find(({ isTaken }) => !isTaken);
  if (!free) {
    leaseAnother(range, slots);
    return { slot: pickUnleasedSlot(range), giveBack: () => undefined };
  }
  free.isTaken = true;
  if (free.lease.remainingMs() < (2 * leaseMs) / 3) {
    void free.lease.renew();
  }
  return {
    slot: getFirstSlot(range) + free.lease.index,
    giveBack() {
      free.isTaken = false;
    },
  };
}

/**
 * Picks a random slot outside the leasable ones, so that processes without a lease seldom conflict.
 */
function pickUnleasedSlot(range: number): number {
  const { totalsSlots, totalsSlotsLeased } = limits;
  return (
    getFirstSlot(range) + totalsSlotsLeased + Math.floor(Math.random() * (totalsSlots - totalsSlotsLeased))
  );
}

/** Leases another slot in the background, so that no purchase waits for Redis. */
function leaseAnother(range: number, slots: Slots): void {
  if (slots.leased.length >= leasedMax || performance.now() < slots.askedAtMs + leaseRetryMs) {
    return;
  }
  slots.askedAtMs = performance.now();
  leaseFirstFree(getLeaseNames(range), leaseMs)
    .then((lease) => {
      if (lease) {
        slots.leased.push({ lease, isTaken: false });
        slots.askedAtMs = -Infinity;
      }
    })
    // Redis is unavailable, which its connection logs.
    .catch(() => undefined);
}
