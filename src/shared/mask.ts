/** A number for eyes that need not know all of it (a customer, a bank account): the last four characters are shown. */
export function masked(value: string): string {
  const shown = value.slice(-4);
  return '*'.repeat(value.length - shown.length) + shown;
}
