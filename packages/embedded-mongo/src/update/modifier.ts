import type { Timestamp } from 'bson';
import type { Doc } from '../values/types.js';

/** What a modifier may need besides the old value. */
export interface ModifierContext {
  readonly path: string;
  readonly doc: Doc;
  readonly now: Date;
  /** The server's clock for `$currentDate` of type timestamp. */
  readonly timestamp: Timestamp;
}

/** Returned by `change` for a field that is to be removed. */
export const REMOVE = Symbol('remove');

/** One operator at one path, its operand checked. */
export interface Modifier {
  /** The new value of a field that exists: an identical one leaves the document unmodified. */
  readonly change: (value: unknown, context: ModifierContext) => unknown;
  /** True if only the very same object leaves the document unmodified, a copy does not ($push). */
  readonly countsCopies?: boolean;
  /** The value of a field that is missing; without it the operator creates none. */
  readonly create?: (context: ModifierContext) => unknown;
  /** True if a path that cannot exist (through a scalar) is no error ($unset). */
  readonly toleratesBlockedPath?: boolean;
  /** True if it only acts on the insert of an upsert. */
  readonly insertOnly?: boolean;
}

/** Checks an operand; thrown errors are those of the whole update. */
export type ModifierParser = (operand: unknown, path: string) => Modifier;
