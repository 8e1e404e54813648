/** @throws Error that names the option if the text is not a whole number. */
export function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,10}$/.test(text)) {
    throw new Error(`${name} must be a whole number, not "${text}"`);
  }
  return Number(text);
}
