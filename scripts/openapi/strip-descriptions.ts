/** Removes descriptions and examples, so that only the contract remains. */
export function stripDescriptions(part: unknown, isNamesOf = false): unknown {
  if (Array.isArray(part)) {
    return part.map((each) => stripDescriptions(each));
  }
  if (typeof part !== 'object' || part === null) {
    return part;
  }
  return Object.fromEntries(
    Object.entries(part)
      .filter(([name]) => isNamesOf || !['description', 'summary', 'example', 'examples'].includes(name))
      // The keys of `properties` and `schemas` are names, because a field may be called
      // "description".
      .map(([name, each]) => [
        name,
        stripDescriptions(each, !isNamesOf && ['properties', 'schemas'].includes(name)),
      ]),
  );
}
