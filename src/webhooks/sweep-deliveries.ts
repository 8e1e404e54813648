import { now } from '../shared/clock.js';
import { giveTurns } from './announce-deliveries.js';
import { deliveries } from './delivery.model.js';
import { receivers } from './receiver.model.js';

/** Of one sweep. */
const receiversMax = 2_000;
const queriesMax = 500;
const rowsMax = 1_000;
/** Where the last sweep stopped, so that many waiting receivers all get their turn. */
let after = '';

/**
 * Finds receivers with rows that are due and makes sure that each gets its turn: retries whose time has come, rows
 * whose worker died, rows whose job was lost with Redis.
 * @returns How many receivers got one.
 */
export async function sweepDeliveries(): Promise<number> {
  const found = await findDueReceivers();
  if (found.length === 0) {
    return 0;
  }
  const open = await receivers
    .find({ _id: { $in: found }, openUntil: { $gt: now() } })
    .project<{ _id: string }>({ _id: 1 })
    .toArray();
  const spared = new Set(open.map((receiver) => receiver._id));
  const awaited = found.filter((receiverId) => !spared.has(receiverId));
  await giveTurns(awaited);
  return awaited.length;
}

/**
 * Walks along the index, from behind the last receiver of each batch. A batch has room for twice as many rows as the last
 * one had receivers: many receivers with a row each are few queries, and one with a million rows is stepped over.
 */
async function findDueReceivers(): Promise<string[]> {
  const at = now();
  const found = new Set<string>();
  let size = 64;
  for (let queries = 0; queries < queriesMax && found.size < receiversMax; queries++) {
    // Rows move in this index. One that is missed is found by the next sweep.
    const rows = await deliveries
      .find(
        { state: 'due', receiverId: { $gt: after }, nextAttemptAt: { $lte: at } },
        { projection: { _id: 0, receiverId: 1 }, sort: { receiverId: 1, nextAttemptAt: 1 }, limit: size },
      )
      .toArray();
    const ids = new Set(rows.map(({ receiverId }) => receiverId));
    ids.forEach((id) => found.add(id));
    after = rows.length < size ? '' : (rows.at(-1)?.receiverId ?? '');
    if (after === '') {
      break;
    }
    size = Math.min(rowsMax, 2 * ids.size);
  }
  return [...found];
}
