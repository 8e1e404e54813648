/**
 * The number that somebody has written, as people write them: `50000`, `50.000` and `50,000` are one; with decimals `1.25` and `1,25`. Nothing
 * is left out on the way: what could be two numbers (`50.000,00`) is none.
 * @param decimals How many there may be; 0: whole numbers, which may be in groups of three.
 * @returns NaN for what is none.
 */
export function numberIn(text: string, decimals = 0): number {
  const [, sign = '', digits = ''] = /^([-−]?)(.+)$/.exec(text.trim()) ?? [];
  const number = decimals === 0 ? wholeIn(digits) : decimalIn(digits, decimals);
  return sign === '' ? number : -number;
}

function wholeIn(digits: string): number {
  const isOne =
    /^\d+$/.test(digits) || [/^\d{1,3}(\.\d{3})+$/, /^\d{1,3}(,\d{3})+$/].some((form) => form.test(digits));
  const number = isOne ? Number(digits.replace(/[.,]/g, '')) : NaN;
  return Number.isSafeInteger(number) ? number : NaN;
}

function decimalIn(digits: string, decimals: number): number {
  const read = /^\d{1,9}(?:[.,](\d+))?$/.exec(digits);
  return read && (read[1] ?? '').length <= decimals ? Number(digits.replace(',', '.')) : NaN;
}
