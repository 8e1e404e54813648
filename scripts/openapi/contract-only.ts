/** A document without words and examples: what a client's code depends on. */
export function contractOnly(part: unknown, isNamesOf = false): unknown {
  if (Array.isArray(part)) {
    return part.map((each) => contractOnly(each));
  }
  if (typeof part !== 'object' || part === null) {
    return part;
  }
  return Object.fromEntries(
    Object.entries(part)
      .filter(([name]) => isNamesOf || !['description', 'summary', 'example', 'examples'].includes(name))
      // The keys of these are names of ours: a field may well be called "description".
      .map(([name, each]) => [
        name,
        contractOnly(each, !isNamesOf && ['properties', 'schemas'].includes(name)),
      ]),
  );
}
