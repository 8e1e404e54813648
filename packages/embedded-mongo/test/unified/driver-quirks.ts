import type { Document } from 'mongodb';

/** A rule for a command that the driver sends in an equivalent form. */
interface DriverQuirk {
  reason: string;
  /**
   * Returns the command in the form that the cases expect. Undefined if the rule does not apply.
   */
  rewrite: (command: Document, expected: Document) => Document | undefined;
}

const QUIRKS: readonly DriverQuirk[] = [
  {
    reason:
      'The driver adds the time limit of a repeated commit to every commit or abort with a write concern.',
    rewrite: (command, expected) => {
      const { wtimeout, ...concern } = (command['writeConcern'] ?? {}) as Document;
      const isAdded = Number(wtimeout) === 10_000 && expected['writeConcern']?.wtimeout === undefined;
      return isAdded && ('commitTransaction' in command || 'abortTransaction' in command)
        ? { ...command, writeConcern: concern }
        : undefined;
    },
  },
  {
    reason: 'The driver finds GridFS files by `$eq`.',
    rewrite: (command) => {
      const id = command['filter']?._id?.$eq as unknown;
      return command['find'] === 'fs.files' && id !== undefined
        ? { ...command, filter: { _id: id } }
        : undefined;
    },
  },
];

/**
 * Returns a field of an event. Commands are converted from the form of the driver to the form that
 * the cases expect.
 */
export function toSpecifiedForm(field: string, expected: unknown, actual: unknown): unknown {
  if (field !== 'command' || actual === undefined) {
    return actual;
  }
  return QUIRKS.reduce<Document>(
    (command, { rewrite }) => rewrite(command, expected as Document) ?? command,
    actual as Document,
  );
}
