/**
 * Serves one receiver for one turn: what is due goes out, a few at a time, for a second. Whoever has more goes to
 * the end of the queue, and a request that is slower goes on without holding a place in it. So a receiver that
 * hangs costs the others nothing.
 */
import { logger } from '../shared/logger.js';
import { giveTurns } from './announce-deliveries.js';
import { attemptDelivery, type Attempted } from './attempt-delivery.js';
import { claimDeliveries, releaseDeliveries, type ClaimedDelivery } from './claim-deliveries.js';
import { createLoad, type Load } from './delivery-load.js';
import { openTurn, type Turn } from './open-turn.js';
import { disableReceiver, needsForgiving, noteFailure, noteSlow, noteSuccess } from './receiver-health.js';
import { createRecorder, type Recorder } from './record-attempts.js';
import { createSender, type Sender } from './send-request.js';
import { urlGuard } from './url-guard.js';
import { webhookLimits } from './webhook-limits.js';

export interface Deliverer {
  /** One turn of a receiver. Safe to run twice, or in two processes at once: rows are taken under a lease. */
  deliverDue(receiverId: string): Promise<void>;
  /** Resolves when nothing is under way and every result is written. */
  drain(): Promise<void>;
}

/** What the turns of a process share. */
interface Means {
  readonly sender: Sender;
  readonly record: Recorder;
  readonly load: Load;
  readonly underWay: Set<Promise<void>>;
}

/** A turn while it runs. */
interface Running {
  readonly means: Means;
  readonly turn: Turn;
  waiting: ClaimedDelivery[];
  /** Nothing else is due. */
  drained: boolean;
  active: number;
  /** Where the last request went. */
  url: string;
  /** Time is up, or the receiver was disabled meanwhile. */
  over: boolean;
  /** Continues the turn when a request ends. */
  wake: () => void;
}

/** What a process of the type `webhooks` keeps open: it ends when everything under way has ended. */
export function openDeliverer(): {
  run(data: { receiverId: string }): Promise<void>;
  close(): Promise<void>;
} {
  const sender = createSender(urlGuard);
  const deliverer = createDeliverer(sender);
  return {
    run: ({ receiverId }) => deliverer.deliverDue(receiverId),
    async close() {
      await deliverer.drain();
      await sender.close();
    },
  };
}

export function createDeliverer(sender: Sender): Deliverer {
  const means = { sender, record: createRecorder(), load: createLoad(), underWay: new Set<Promise<void>>() };
  return {
    deliverDue: async (receiverId) => {
      const turn = await openTurn(receiverId, means.load.ofReceiver(receiverId));
      if (turn) {
        await takeTurn(means, turn);
      }
    },
    drain: async () => {
      while (means.underWay.size > 0) {
        await Promise.all(means.underWay);
      }
    },
  };
}

async function takeTurn(means: Means, turn: Turn): Promise<void> {
  const running: Running = {
    means,
    turn,
    waiting: [],
    drained: false,
    active: 0,
    url: '',
    over: false,
    wake: () => undefined,
  };
  const timer = setTimeout(() => endTurn(running), webhookLimits.turnMs);
  try {
    await serve(running);
  } finally {
    clearTimeout(timer);
  }
  const more = running.over && (running.waiting.length > 0 || !running.drained);
  running.over = true;
  await releaseDeliveries(running.waiting);
  if (running.active > 0) {
    // They go on by themselves; each that ends calls for the next turn.
    await noteSlow({ receiverId: turn.receiverId, account: turn.account, url: running.url });
  } else if (more) {
    await giveTurns([turn.receiverId]);
  }
}

async function serve(running: Running): Promise<void> {
  while (!running.over) {
    const room = roomFor(running);
    if (running.waiting.length === 0 && !running.drained && room > 0) {
      await refill(running, room);
      continue;
    }
    for (const row of running.waiting.splice(0, Math.max(0, room))) {
      start(running, row);
    }
    if (running.active === 0) {
      // All is done, or others have all the room: then the sweep brings the rest back.
      return;
    }
    await new Promise<void>((resolve) => {
      running.wake = resolve;
    });
  }
}

function roomFor({ means: { load }, turn }: Running): number {
  const own = turn.probing ? 1 : webhookLimits.inFlightPerReceiver - turn.elsewhere;
  return Math.min(own - load.ofReceiver(turn.receiverId), load.roomFor(turn.receiverId, turn.account._id));
}

function start(running: Running, row: ClaimedDelivery): void {
  const { means, turn } = running;
  running.active += 1;
  running.url = row.url;
  means.load.change(turn.receiverId, turn.account._id, 1);
  const ended = attempt(running, row)
    .catch((error: unknown) => {
      // Its lease ends, and it is sent again.
      logger.error('webhook attempt broke off', { deliveryId: row._id, error });
    })
    .finally(() => means.underWay.delete(ended));
  means.underWay.add(ended);
}

async function attempt(running: Running, row: ClaimedDelivery): Promise<void> {
  const { means, turn } = running;
  let written: Promise<void> | undefined;
  let outlived = false;
  try {
    const attempted = await attemptDelivery(means.sender, row, turn);
    written = means.record(row, attempted);
    if (await noteHealth(turn, row, attempted)) {
      endTurn(running);
    }
  } finally {
    outlived = running.over;
    running.active -= 1;
    means.load.change(turn.receiverId, turn.account._id, -1);
    running.wake();
  }
  await written;
  if (outlived) {
    await giveTurns([turn.receiverId]);
  }
}

function endTurn(running: Running): void {
  running.over = true;
  running.wake();
}

async function refill(running: Running, room: number): Promise<void> {
  const { turn } = running;
  // Whoever may have only a few under way is likely to hang: taking more rows would only delay them.
  const most = room < webhookLimits.inFlightPerReceiver ? room : webhookLimits.claimBatch;
  const claim = await claimDeliveries(turn.receiverId, most);
  running.waiting = claim.rows;
  running.drained = claim.drained || turn.probing;
}

/** @returns true if the receiver is disabled now. */
async function noteHealth(turn: Turn, row: ClaimedDelivery, { verdict }: Attempted): Promise<boolean> {
  const key = { receiverId: turn.receiverId, account: turn.account, url: row.url };
  switch (verdict.outcome) {
    case 'delivered':
      if (needsForgiving(turn.receiver)) {
        turn.receiver = null;
        await noteSuccess(turn.receiverId);
      }
      return false;
    case 'failed':
    case 'timeout':
      return noteFailure(key, verdict.outcome === 'timeout');
    case 'gone':
      await disableReceiver(key, 'gone');
      return true;
    case 'blocked':
      return false;
  }
}
