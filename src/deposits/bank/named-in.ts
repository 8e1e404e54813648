import type { IncomingLine } from './read-bank-statement.js';

/** Names that are shorter, have no digit, or digits alone as dates and amounts have, stand in texts by chance. */
const nameMin = 6;
const digitsMin = 10;
/** Words of a text that one name can be written in. */
const wordsMax = 8;

/** A reference as it is looked for: banks write in capitals, and leave out what is neither letter nor digit. Null: it is none that can be found. */
export function buildSearchName(reference: string): string | null {
  const name = normalizeReference(reference);
  const isByChance = !/\d/.test(name) || name.length < (/^\d+$/.test(name) ? digitsMin : nameMin);
  return isByChance ? null : name;
}

/** All names that a line's text can be said to have in it: its words, and several in a row. Where it was cut its last word may be half of one. */
export function findNames({
  description,
  isWhole,
}: Pick<IncomingLine, 'description' | 'isWhole'>): Set<string> {
  const words = (isWhole ? description : description.replace(/\S+$/, ''))
    .split(/[^A-Za-z0-9]+/)
    .filter((each) => each !== '');
  const names = new Set<string>();
  words.forEach((_, start) => {
    let name = '';
    for (const word of words.slice(start, start + wordsMax)) {
      name += word.toUpperCase();
      names.add(name);
    }
  });
  return names;
}

function normalizeReference(text: string): string {
  return text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
}
