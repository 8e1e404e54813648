/** The parts of the serial number that a prepaid electricity purchase returns. */
export interface PlnToken {
  /** The 20 digits entered at the meter. */
  token: string;
  customerName: string;
  /** Tariff code as PLN writes it, such as `R1`. */
  tariff: string;
  /** Power of the connection as PLN writes it, such as `900VA`. */
  power: string;
  kwh: number;
}

/** Matched from the right, because a customer's name may contain a slash. */
const tokenPattern = /^((?:\d{4}[- ]?){4}\d{4})\/(.*)\/([^/]+)\/([^/]+)\/([^/]+)$/;

/**
 * Parses a serial number.
 * @returns the parts of `1234-5678-9012-3456-7890/NAME/R1/900VA/71,3`, or null for any other serial
 *   number.
 */
export function parsePlnToken(serialNumber: string): PlnToken | null {
  const [, token = '', name = '', tariff = '', power = '', energy = ''] =
    tokenPattern.exec(serialNumber) ?? [];
  const kwh = Number.parseFloat(energy.replace(',', '.'));
  if (token === '' || !Number.isFinite(kwh)) {
    return null;
  }
  return {
    token: token.replace(/\D/g, ''),
    customerName: name.trim(),
    tariff: tariff.trim(),
    power: power.trim(),
    kwh,
  };
}

/**
 * Returns the two spellings that providers use for a token: without hyphens, and in groups of four.
 */
export function getTokenSpellings({ token }: Pick<PlnToken, 'token'>): string[] {
  return [token, token.replace(/(\d{4})(?=\d)/g, '$1-')];
}

/**
 * Formats a serial number for display. An electricity token is written in groups of four digits.
 * Any other serial number is unchanged.
 */
export function formatToken<T extends string | null>({
  subcategory,
  serialNumber,
}: {
  subcategory: string;
  serialNumber: T;
}): T | string {
  const [, token, rest = ''] = /^((?:\d{4}[- ]?){4}\d{4})(?!\d)(.*)$/s.exec(serialNumber ?? '') ?? [];
  return subcategory === 'pln' && token !== undefined
    ? `${token.replace(/\D/g, '').replace(/(\d{4})(?=\d)/g, '$1-')}${rest}`
    : serialNumber;
}
