/**
 * Slots: many groups add to the totals of one seller at once, so each writes a document of its own. A process leases
 * slots as it needs them and gives each group one for itself. A slot only saves conflicts: two groups that meet in one
 * make MongoDB refuse one of them, which is written again. Each range of accounts has slots of its own, on its shard.
 */
import { limits } from '../../../config/limits.js';
import { leaseFirstFree, type Lease } from '../../redis/lease.js';

const leaseMs = 30_000;
/** A group must be written before its slot can be another process's. */
const marginMs = 10_000;
const leaseRetryMs = 1_000;
/** Of one process: its shared lanes, and some of accounts that conflict. */
const leasedMax = limits.postingLanes + 2;

/** The slots of a range that are leased, by the names of their leases. */
function getLeaseNames(range: number): string[] {
  const first = getFirstSlot(range);
  return Array.from({ length: limits.totalsSlotsLeased }, (_, index) => `totals-slot-${first + index}`);
}

/** The range of accounts whose postings add to a slot (src/database/sharding.ts). */
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

/** Of one range. */
interface Slots {
  leased: LeasedSlot[];
  askedAtMs: number;
}

const slotsByRange = new Map<number, Slots>();

/** A slot for one group. It is given back when the group has been written, or has not. */
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

/** One that no process leases. Any of them, so that those without a lease seldom meet. */
function pickUnleasedSlot(range: number): number {
  const { totalsSlots, totalsSlotsLeased } = limits;
  return (
    getFirstSlot(range) + totalsSlotsLeased + Math.floor(Math.random() * (totalsSlots - totalsSlotsLeased))
  );
}

/** In the background: no purchase waits for Redis. */
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
    // Redis is away, which its connection has logged.
    .catch(() => undefined);
}
