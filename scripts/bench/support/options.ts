/**
 * Returns an integer from the environment, such as `SECONDS=5`.
 * @throws Error if the value is invalid. The error names the variable.
 */
export function numberOption(name: string, byDefault: number, min = 1): number {
  const rawValue = process.env[name];
  if (rawValue === undefined || rawValue === '') {
    return byDefault;
  }
  const value = Number(rawValue);
  if (!Number.isSafeInteger(value) || value < min) {
    throw new Error(`${name} must be a whole number from ${min}`);
  }
  return value;
}

/**
 * Returns a share above 0 and at most 1 from the environment, such as `SHARE=0.7`.
 * @throws Error if the value is invalid. The error names the variable.
 */
export function shareOption(name: string, byDefault: number): number {
  const rawValue = process.env[name];
  if (rawValue === undefined || rawValue === '') {
    return byDefault;
  }
  const value = Number(rawValue);
  if (!(value > 0 && value <= 1)) {
    throw new Error(`${name} must be above 0 and at most 1`);
  }
  return value;
}
