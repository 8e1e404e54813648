/**
 * What a record says of a name that somebody else chose: `constructor` and `__proto__` are names like any other, and mostly
 * of nothing. The linter wants it wherever a record is asked by a text that is not written out (decision 023).
 */
export function lookUp<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  // eslint-disable-next-line house/record-lookup -- the one place that asks first
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
