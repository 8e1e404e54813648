interface StatedOrder {
  productCode?: string | null | undefined;
  customerNumber?: string | null | undefined;
}

/**
 * True if a response or callback states neither another product nor another customer than the order.
 * A field that it does not state contradicts nothing.
 */
export function isAboutOrder(
  stated: StatedOrder,
  ordered: { productCode: string; customerNumber: string },
): boolean {
  return (
    (!stated.productCode?.trim() || toCodeKey(stated.productCode) === toCodeKey(ordered.productCode)) &&
    (!stated.customerNumber?.trim() || isSameNumber(stated.customerNumber, ordered.customerNumber))
  );
}

function toCodeKey(code: string): string {
  return code.trim().toLowerCase();
}

/**
 * Compares customer numbers. Punctuation, blanks, leading zeros and the country code do not count,
 * because providers rewrite these.
 */
export function isSameNumber(stated: string, ordered: string): boolean {
  return toNumberKey(stated) === toNumberKey(ordered);
}

function toNumberKey(number: string): string {
  const key = number
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
  return key.replace(/^(62|0+)/, '') || key;
}
