import { Binary, Long, Timestamp } from 'bson';
import { encode } from '../values/encode.js';

/**
 * The logical clock of the deployment. A time consists of seconds and a counter within the second.
 * The clock advances with every change of the data.
 */
export interface ClusterClock {
  /** Returns the time of the change with this number. */
  at: (changes: number) => Timestamp;
  /**
   * Returns the time fields at the end of a reply, as BSON elements without an enclosing document.
   * All callers share one buffer, which the clock updates in place. A reply that is sent later may
   * therefore contain a later time, which is also valid.
   */
  tail: (changes: number) => Buffer;
  /** Like `tail`, but with a separate operation time. */
  tailAt: (changes: number, operationTime: Timestamp) => Buffer;
}

const TIMESTAMP = 0x11;

export function createClusterClock(): ClusterClock {
  let seconds = 0;
  let increment = 0;
  let knownChanges = -1;
  const tail = tailTemplate();
  // The offsets of the two timestamps: after the type and the name of the first one, and at the end
  // of the buffer.
  const name = Buffer.from([TIMESTAMP, ...Buffer.from('clusterTime\0')]);
  const places = [tail.indexOf(name) + name.length, tail.length - 8];
  const advance = (changes: number): void => {
    if (changes === knownChanges) {
      return;
    }
    knownChanges = changes;
    const now = Math.floor(Date.now() / 1000);
    increment = now > seconds ? 1 : increment + 1;
    seconds = Math.max(seconds, now);
    for (const place of places) {
      tail.writeUInt32LE(increment, place);
      tail.writeUInt32LE(seconds, place + 4);
    }
  };
  return {
    at(changes) {
      advance(changes);
      return new Timestamp({ t: seconds, i: increment });
    },
    tail(changes) {
      advance(changes);
      return tail;
    },
    tailAt(changes, operationTime) {
      advance(changes);
      const own = Buffer.from(tail);
      own.writeUInt32LE(operationTime.i, own.length - 8);
      own.writeUInt32LE(operationTime.t, own.length - 4);
      return own;
    },
  };
}

function tailTemplate(): Buffer {
  const time = new Timestamp({ t: 0, i: 0 });
  const signature = { hash: new Binary(Buffer.alloc(20)), keyId: Long.ZERO };
  const doc = encode({ $clusterTime: { clusterTime: time, signature }, operationTime: time });
  return doc.subarray(4, doc.length - 1);
}
