/** A whole number that the environment may set, such as `SECONDS=5`. @throws Error that names it. */
export function numberOption(name: string, byDefault: number): number {
  const given = process.env[name];
  if (given === undefined || given === '') {
    return byDefault;
  }
  const value = Number(given);
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new Error(`${name} must be a whole number above 0`);
  }
  return value;
}
