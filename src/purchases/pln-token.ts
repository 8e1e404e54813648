/** The parts of the serial number that a prepaid electricity purchase returns. */
export interface PlnToken {
  /** The 20 digits entered at the meter. */
  token: string;
  customerName: string;
  /** Tariff code as PLN writes it, such as `R1`. */
  tariff: string;
  /** Power of the connection as PLN writes it, such as `900VA`. */
  power: string;
  /** Energy with the digits that the provider wrote, in Indonesian notation: `6.921,40`. */
  kwh: string;
}

const tokenPattern = /^(?:token\s*[:=]\s*)?((?:\d{4}[- ]?){4}\d{4})(?!\d)\s*([/|*~;])(.*)$/is;
const labelPattern = /^(nama|name|tarif|tariff|daya|power|jml kwh|jumlah kwh|kwh)\s*[:=]\s*/i;
const energyPattern = /^(\d[\d.,]*?)\s*(?:kWh)?$/i;
/** Energy that is no power: it has a unit, or decimals. */
const strictEnergyPattern = /^\d[\d.,]*\s*kWh$|^\d[\d.,]*[.,]\d{1,2}$/i;
const powerPattern = /^\d[\d.,]*\s*k?VA$/i;
/** Powers of PLN connections in VA, which some providers write without the unit. */
const barePowerPattern =
  /^0*(?:450|900|1300|2200|3500|4400|5500|6600|7700|10600|11000|13200|16500|23000|33000|41500)$/;
const tariffPattern = /^[A-Z]{1,2}-?\d?[A-Z]{0,2}$/i;
const tariffAndPowerPattern = /^([A-Z]{1,2}\d?[A-Z]{0,2})[\s-]+(\d[\d.,]*\s*k?VA)$/i;

/**
 * Parses a serial number.
 * @returns the parts of `1234-5678-9012-3456-7890/NAME/R1/900VA/71,3`, or null for any other serial
 *   number. The parts may have labels, another separator, or another order if each is recognisable.
 */
export function parsePlnToken(serialNumber: string): PlnToken | null {
  const [, token, separator = '/', rest = ''] = tokenPattern.exec(serialNumber) ?? [];
  if (token === undefined) {
    return null;
  }
  const parts = rest.split(separator).map((part) => part.trim());
  const found = readAnyOrder(parts) ?? readUsualOrder(parts);
  return found && { token: token.replace(/\D/g, ''), ...found };
}

type TokenFacts = Omit<PlnToken, 'token'>;

/** Reads NAME/TARIFF/POWER/KWH from the right, because a customer's name may contain a slash. */
function readUsualOrder(parts: string[]): TokenFacts | null {
  const kwh = readEnergy(stripLabel(parts.at(-1) ?? ''));
  if (kwh === null) {
    return null;
  }
  const [, combinedTariff, combinedPower] = tariffAndPowerPattern.exec(parts.at(-2) ?? '') ?? [];
  if (combinedTariff !== undefined && combinedPower !== undefined && parts.length >= 3) {
    return { ...nameOf(parts.slice(0, -2)), tariff: combinedTariff, power: combinedPower, kwh };
  }
  const [tariff = '', power = ''] = parts.slice(-3, -1).map(stripLabel);
  const isUsual = parts.length >= 4 && /^\D/.test(tariff) && /^\d/.test(power);
  return isUsual ? { ...nameOf(parts.slice(0, -3)), tariff, power, kwh } : null;
}

/** Reads the parts in any order, if exactly one of them is each of energy, power and tariff. */
function readAnyOrder(parts: string[]): TokenFacts | null {
  const find = (is: (part: string, label: string) => boolean) => {
    const places = [...parts.keys()].filter((place) => {
      const part = parts[place] ?? '';
      return is(stripLabel(part), (labelPattern.exec(part)?.[1] ?? '').toLowerCase());
    });
    return places.length === 1 ? (places[0] ?? -1) : -1;
  };
  const energyAt = find((part, label) => label.endsWith('kwh') || strictEnergyPattern.test(part));
  const powerAt = find((part) => powerPattern.test(part) || barePowerPattern.test(part));
  const tariffAt = find((part, label) => label.startsWith('tarif') || (label === '' && isTariff(part)));
  const kwh = readEnergy(stripLabel(parts[energyAt] ?? ''));
  const known = new Set([energyAt, powerAt, tariffAt]);
  if (kwh === null || known.has(-1) || known.size < 3) {
    return null;
  }
  const nameAt = parts.findIndex((_part, place) => !known.has(place));
  const nameEnd = parts.findIndex((_part, place) => place > nameAt && known.has(place));
  const name = nameAt === -1 ? [] : parts.slice(nameAt, nameEnd === -1 ? nameAt + 1 : nameEnd);
  const facts = [tariffAt, powerAt].map((place) => stripLabel(parts[place] ?? ''));
  return { ...nameOf(name), tariff: facts[0] ?? '', power: facts[1] ?? '', kwh };
}

/** A name of one or two letters looks like a tariff, so a tariff needs its digit here. */
function isTariff(part: string): boolean {
  return tariffPattern.test(part) && /\d/.test(part);
}

function nameOf(parts: string[]): { customerName: string } {
  return { customerName: stripLabel(parts.join('/')) };
}

function stripLabel(part: string): string {
  return part.replace(labelPattern, '').trim();
}

/**
 * Returns energy in Indonesian notation with all its digits, or null if the text is no number. One
 * separator before three digits may be a decimal or a thousands separator, so it stays.
 */
function readEnergy(text: string): string | null {
  const [, digits] = energyPattern.exec(text) ?? [];
  if (digits === undefined) {
    return null;
  }
  const separators = digits.replace(/\d/g, '');
  if (separators === '') {
    return digits;
  }
  const isAmbiguous = /^[1-9]\d{0,2}[.,]\d{3}$/.test(digits);
  const isGrouped = /^\d{1,3}(?:([.,])\d{3})(?:\1\d{3})+$/.test(digits);
  if (isAmbiguous) {
    return digits;
  }
  if (isGrouped) {
    return digits.replaceAll(',', '.');
  }
  const [, whole = '', decimals] =
    /^(\d+|\d{1,3}(?:\.\d{3})+(?=,)|\d{1,3}(?:,\d{3})+(?=\.))[.,](\d+)$/.exec(digits) ?? [];
  return decimals === undefined ? null : `${whole.replaceAll(',', '.')},${decimals}`;
}

/** Writes energy for readers of a language. A number that could be read in two ways stays. */
export function formatEnergy(kwh: string, language: 'id' | 'en'): string {
  const isCertain = /,\d+$/.test(kwh) && !/^[1-9]\d{0,2},\d{3}$/.test(kwh);
  return language === 'en' && isCertain
    ? kwh.replace(/[.,]/g, (separator) => (separator === ',' ? '.' : ','))
    : kwh;
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
