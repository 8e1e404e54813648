/** How a word of the catalogue is searched by an index: as it was sent, and as such words are mostly written. */
export function getSpellings(value: string): string[] {
  const lower = value.toLowerCase();
  return [
    ...new Set([value, lower, value.toUpperCase(), lower.replace(/(^|\s)\S/g, (each) => each.toUpperCase())]),
  ];
}
