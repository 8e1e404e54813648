/**
 * Parses a number as users type it. `50000`, `50.000` and `50,000` are the same number. With
 * decimals, `1.25` and `1,25` are the same number. An ambiguous text such as `50.000,00` is
 * refused.
 *
 * @param decimals The maximum number of decimals. With 0, the number must be whole and may have
 * groups of three digits.
 * @returns NaN if the text is not a valid number.
 */
export function parseNumber(text: string, decimals = 0): number {
  const [, sign = '', digits = ''] = /^([-−]?)(.+)$/.exec(text.trim()) ?? [];
  const number = decimals === 0 ? parseWhole(digits) : parseDecimal(digits, decimals);
  return sign === '' ? number : -number;
}

function parseWhole(digits: string): number {
  const isOne =
    /^\d+$/.test(digits) || [/^\d{1,3}(\.\d{3})+$/, /^\d{1,3}(,\d{3})+$/].some((form) => form.test(digits));
  const number = isOne ? Number(digits.replace(/[.,]/g, '')) : NaN;
  return Number.isSafeInteger(number) ? number : NaN;
}

function parseDecimal(digits: string, decimals: number): number {
  const read = /^\d{1,9}(?:[.,](\d+))?$/.exec(digits);
  return read && (read[1] ?? '').length <= decimals ? Number(digits.replace(',', '.')) : NaN;
}
