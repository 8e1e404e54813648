import { MongoError } from '../errors.js';
import type { Draft, DraftLocation } from './draft.js';

/**
 * Applies `$rename`: sets the target, then removes the source. Does nothing if the source is
 * missing.
 * @throws MongoError 2 if one of the paths leads through an array, 28 if the target cannot be
 * created.
 */
export function renameField(
  draft: Draft,
  from: readonly string[],
  target: { readonly place: DraftLocation; readonly missing: readonly string[] },
): void {
  const source = findSource(draft, from);
  if (source === undefined) {
    return;
  }
  checkNoArray(source.parent, 'source');
  checkNoArray(target.missing.length === 0 ? target.place.parent : target.place, 'destination');
  if (target.missing.length === 0) {
    draft.replace(target.place, source.value);
  } else {
    draft.create(target.place, target.missing, source.value);
  }
  // Setting the target may have copied the objects above the source.
  const again = findSource(draft, from);
  if (again !== undefined) {
    draft.remove(again);
  }
}

function findSource(draft: Draft, from: readonly string[]): DraftLocation | undefined {
  let place = draft.root;
  for (const part of from) {
    const child = draft.child(place, part);
    if (child === undefined) {
      draft.checkViable(place, part);
      return undefined;
    }
    place = child;
  }
  return place;
}

function checkNoArray(place: DraftLocation | undefined, role: string): void {
  for (let at = place; at !== undefined; at = at.parent) {
    if (Array.isArray(at.value)) {
      throw new MongoError(2, `The ${role} field cannot be an array element`);
    }
  }
}
