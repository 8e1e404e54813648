/** A whole number that the environment may set, such as `SECONDS=5`. @throws Error that names it. */
export function numberOption(name: string, byDefault: number, min = 1): number {
  const given = process.env[name];
  if (given === undefined || given === '') {
    return byDefault;
  }
  const value = Number(given);
  if (!Number.isSafeInteger(value) || value < min) {
    throw new Error(`${name} must be a whole number from ${min}`);
  }
  return value;
}

/** A part of a whole that the environment may set, such as `SHARE=0.7`. @throws Error that names it. */
export function shareOption(name: string, byDefault: number): number {
  const given = process.env[name];
  if (given === undefined || given === '') {
    return byDefault;
  }
  const value = Number(given);
  if (!(value > 0 && value <= 1)) {
    throw new Error(`${name} must be above 0 and at most 1`);
  }
  return value;
}
