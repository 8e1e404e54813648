import type { Timestamp } from 'bson';
import type { Doc } from '../values/types.js';

/** The values that a modifier may use in addition to the old value. */
export interface ModifierContext {
  readonly path: string;
  readonly doc: Doc;
  readonly now: Date;
  /** The value that `$currentDate` sets for the type timestamp. */
  readonly timestamp: Timestamp;
}

/** The result of `change` that removes the field. */
export const REMOVE = Symbol('remove');

/** A compiled update operator for one path. */
export interface Modifier {
  /**
   * Returns the new value of an existing field. A value with identical bytes leaves the document
   * unmodified.
   */
  readonly change: (value: unknown, context: ModifierContext) => unknown;
  /** True if any new object counts as a change, even one with identical bytes. Used by `$push`. */
  readonly countsCopies?: boolean;
  /** Returns the value of a missing field. Operators without this function create no field. */
  readonly create?: (context: ModifierContext) => unknown;
  /**
   * True if it is no error that the path leads through a value that is not an object or array. Used
   * by `$unset`.
   */
  readonly toleratesBlockedPath?: boolean;
  /** True if the operator applies only to the new document of an upsert. */
  readonly insertOnly?: boolean;
}

/** Checks an operand and compiles it. If it throws, the whole update fails. */
export type ModifierParser = (operand: unknown, path: string) => Modifier;
