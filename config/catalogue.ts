/**
 * The demo catalogue and the number prefixes of mobile operators, read from
 * config/catalogue/*.json.
 */
import { readdirSync } from 'node:fs';
import { getConfigPath, readConfigJson } from './project-file.js';

export interface CatalogueProduct {
  code: string;
  name: string;
  category: 'prabayar' | 'pascabayar';
  subcategory: string;
  operator?: string;
  description?: string;
  /** Daily window without sales, in business time HH:MM. */
  cutOff?: { start: string; end: string };
  /** Prices in rupiah by the seller's username. The first seller owns the product. */
  offers: Record<string, number>;
}

/** Prefixes of mobile numbers, keyed by operator. */
export const operatorPrefixes = readConfigJson('catalogue', 'operators.json') as Record<string, string[]>;

export function readCatalogue(): CatalogueProduct[] {
  return readdirSync(getConfigPath('catalogue'))
    .filter((name) => name.endsWith('.json') && name !== 'operators.json')
    .sort()
    .flatMap((name) => readConfigJson('catalogue', name) as CatalogueProduct[]);
}
