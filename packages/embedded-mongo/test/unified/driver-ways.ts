import type { Document } from 'mongodb';

/** What the driver sends in another form than the cases say, although it means the same. */
interface Way {
  reason: string;
  /** The command as the cases say it, or undefined if this is not about it. */
  rewrite: (command: Document, expected: Document) => Document | undefined;
}

const WAYS: readonly Way[] = [
  {
    reason:
      'The driver gives a commit or abort with a write concern the time limit of a repeated commit at once.',
    rewrite: (command, expected) => {
      const { wtimeout, ...concern } = (command['writeConcern'] ?? {}) as Document;
      const isAdded = Number(wtimeout) === 10_000 && expected['writeConcern']?.wtimeout === undefined;
      return isAdded && ('commitTransaction' in command || 'abortTransaction' in command)
        ? { ...command, writeConcern: concern }
        : undefined;
    },
  },
  {
    reason: 'The driver looks for a file of GridFS by `$eq`.',
    rewrite: (command) => {
      const id = command['filter']?._id?.$eq as unknown;
      return command['find'] === 'fs.files' && id !== undefined
        ? { ...command, filter: { _id: id } }
        : undefined;
    },
  },
];

/** This field of an event, with what is only the driver's way put as the cases say it. */
export function asSpecified(field: string, expected: unknown, actual: unknown): unknown {
  if (field !== 'command' || actual === undefined) {
    return actual;
  }
  return WAYS.reduce<Document>(
    (command, { rewrite }) => rewrite(command, expected as Document) ?? command,
    actual as Document,
  );
}
