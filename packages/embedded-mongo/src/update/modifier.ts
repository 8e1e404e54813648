import type { Timestamp } from 'bson';
import type { Doc } from '../values/types.js';

/** The context of a modifier, in addition to the old value. */
export interface ModifierContext {
  readonly path: string;
  readonly doc: Doc;
  readonly now: Date;
  /** The server's time for `$currentDate` of type timestamp. */
  readonly timestamp: Timestamp;
}

/** Returned by `change` to remove the field. */
export const REMOVE = Symbol('remove');

/** One operator at one path, with a checked operand. */
export interface Modifier {
  /**
   * Returns the new value of an existing field. An identical one leaves the document unmodified.
   */
  readonly change: (value: unknown, context: ModifierContext) => unknown;
  /**
   * True if only the same object leaves the document unmodified, and an equal copy counts as a
   * change ($push).
   */
  readonly countsCopies?: boolean;
  /** Returns the value of a missing field. Without it the operator creates no field. */
  readonly create?: (context: ModifierContext) => unknown;
  /** True if an impossible path (through a scalar) is not an error ($unset). */
  readonly toleratesBlockedPath?: boolean;
  /** True if it only applies to the insert of an upsert. */
  readonly insertOnly?: boolean;
}

/** Checks an operand. Its errors fail the whole update. */
export type ModifierParser = (operand: unknown, path: string) => Modifier;
