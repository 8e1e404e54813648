/** The serial number of a prepaid electricity purchase, taken apart. */
export interface PlnToken {
  /** The 20 digits that the customer types into the meter. */
  token: string;
  customerName: string;
  /** Tariff and power as PLN writes them: `R1`, `900VA`. */
  tariff: string;
  power: string;
  kwh: number;
}

/** Read from the right, because a customer's name may hold a slash. */
const tokenPattern = /^((?:\d{4}[- ]?){4}\d{4})\/(.*)\/([^/]+)\/([^/]+)\/([^/]+)$/;

/** @returns the parts of `1234-5678-9012-3456-7890/NAME/R1/900VA/71,3`, or null for any other serial number. */
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

/** How providers write a token: in groups of four with a hyphen, or in one. */
export function getTokenSpellings({ token }: Pick<PlnToken, 'token'>): string[] {
  return [token, token.replace(/(\d{4})(?=\d)/g, '$1-')];
}

/** A serial number as people read it: the token of one for electricity in groups of four, any other as it is. */
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
