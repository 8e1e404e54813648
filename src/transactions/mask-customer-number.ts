/** A customer number for eyes that need not know it: only the last four characters are shown. */
export function maskCustomerNumber(customerNumber: string): string {
  const shown = customerNumber.slice(-4);
  return '*'.repeat(customerNumber.length - shown.length) + shown;
}
