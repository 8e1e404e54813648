import { now } from '../shared/clock.js';
import { giveTurns } from './announce-deliveries.js';
import { deliveries } from './delivery.model.js';
import { receivers } from './receiver.model.js';

const receiversMax = 500;
/** Where the last sweep stopped, so that many waiting receivers all get their turn. */
let after = '';

/**
 * Finds receivers with rows that are due and makes sure that each gets its turn: retries whose time has come, rows
 * whose worker died, rows whose job was lost with Redis.
 * @returns How many receivers got one.
 */
export async function sweepDeliveries(): Promise<number> {
  const at = now();
  const found: string[] = [];
  while (found.length < receiversMax) {
    // One step a receiver along the index, however many rows each has waiting.
    const row = await deliveries.findOne(
      { state: 'due', receiverId: { $gt: after }, nextAttemptAt: { $lte: at } },
      { projection: { _id: 0, receiverId: 1 }, sort: { receiverId: 1, nextAttemptAt: 1 } },
    );
    after = row?.receiverId ?? '';
    if (!row) {
      break;
    }
    found.push(row.receiverId);
  }
  if (found.length === 0) {
    return 0;
  }
  const open = await receivers
    .find({ _id: { $in: found }, openUntil: { $gt: at } })
    .project<{ _id: string }>({ _id: 1 })
    .toArray();
  const spared = new Set(open.map((receiver) => receiver._id));
  const awaited = found.filter((receiverId) => !spared.has(receiverId));
  await giveTurns(awaited);
  return awaited.length;
}
