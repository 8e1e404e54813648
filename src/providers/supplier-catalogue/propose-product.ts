import { operatorPrefixes } from '../../../config/catalogue.js';
import type { ProductCategory } from '../../products/product.model.js';
import type { ProviderProduct } from '../adapter.js';

/** A product of ours that a row of a provider's price list would become. */
export interface ProposedProduct {
  code: string;
  name: string;
  category: ProductCategory;
  subcategory: string;
  operator: string | null;
}

const codeMax = 50;
const nameMax = 100;

/**
 * Our subcategory by words in the category or name of the provider. The first match counts. The
 * customer number rule of a product follows from its subcategory.
 */
const subcategoryWords: [subcategory: string, words: RegExp][] = [
  ['pln', /\b(?:pln|token listrik)\b/i],
  ['games', /\bgames?\b/i],
  ['data', /\b(?:data|internet|kuota)\b/i],
  ['pulsa', /\bpulsa\b/i],
  ['e-money', /\b(?:e-?money|e-?wallet|dompet digital)\b/i],
  ['voucher', /\bvouchers?\b/i],
  ['tv', /\btv\b/i],
];
/** Spellings of operators in price lists that contain none of our names. */
const otherSpellings = new Map([
  ['three', 'Tri'],
  ['3', 'Tri'],
  ['im3', 'Indosat'],
  ['simpati', 'Telkomsel'],
]);

/**
 * Proposes our product for a row: its code and name, and category and operator from the provider's
 * own words. An operator that we know gets our spelling, so that its number prefixes apply.
 */
export function proposeProduct({
  code,
  name = code,
  group,
  brand,
  adminFee,
}: ProviderProduct): ProposedProduct {
  const operator = findOperator(brand ?? '') ?? findOperator(name) ?? (brand?.trim() || null);
  return {
    code: toProductCode(code),
    name: name.trim().slice(0, nameMax) || code,
    category: adminFee === undefined ? 'prabayar' : 'pascabayar',
    subcategory: findSubcategory({ group, name, operator }),
    operator,
  };
}

/** Returns a valid product code for a provider's code, which may contain any character. */
export function toProductCode(sku: string): string {
  return sku
    .trim()
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, codeMax);
}

function findSubcategory({
  group,
  name,
  operator,
}: {
  group: string | undefined;
  name: string;
  operator: string | null;
}): string {
  const ofWords = (text: string) => subcategoryWords.find(([, words]) => words.test(text))?.[0];
  const known = ofWords(group ?? '') ?? (group === undefined ? ofWords(name) : undefined);
  if (known !== undefined) {
    return known;
  }
  const own = group
    ?.trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, codeMax);
  return own || (operator !== null && operator in operatorPrefixes ? 'pulsa' : 'other');
}

function findOperator(text: string): string | null {
  const words = text.toLowerCase().split(/[^a-z0-9]+/);
  const ours = Object.keys(operatorPrefixes).find((name) => words.includes(name.toLowerCase()));
  return ours ?? otherSpellings.get(text.trim().toLowerCase()) ?? null;
}
