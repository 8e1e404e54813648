import { Binary, Long, Timestamp } from 'bson';
import { encode } from '../values/encode.js';

/** The logical clock of the deployment: seconds and a counter within them, later with every change of the data. */
export interface ClusterClock {
  /** The time of the newest change that `changes` (a counter of them) stands for. */
  at: (changes: number) => Timestamp;
  /** The fields of this time that end every reply, as BSON elements without the document around them. */
  tail: (changes: number) => Buffer;
}

export function createClusterClock(): ClusterClock {
  let seconds = 0;
  let increment = 0;
  let knownChanges = -1;
  let time = new Timestamp({ t: 0, i: 0 });
  let bytes: Buffer = Buffer.alloc(0);
  const advance = (changes: number): void => {
    if (changes === knownChanges) {
      return;
    }
    knownChanges = changes;
    const now = Math.floor(Date.now() / 1000);
    increment = now > seconds ? 1 : increment + 1;
    seconds = Math.max(seconds, now);
    time = new Timestamp({ t: seconds, i: increment });
    bytes = tailOf(time);
  };
  return {
    at(changes) {
      advance(changes);
      return time;
    },
    tail(changes) {
      advance(changes);
      return bytes;
    },
  };
}

function tailOf(clusterTime: Timestamp): Buffer {
  const signature = { hash: new Binary(Buffer.alloc(20)), keyId: Long.ZERO };
  const doc = encode({ $clusterTime: { clusterTime, signature }, operationTime: clusterTime });
  return doc.subarray(4, doc.length - 1);
}
