/** The demo catalogue and the operators' prefixes, read from config/catalogue/*.json. */
import { readdirSync } from 'node:fs';
import { configPath, readConfigJson } from './project-file.js';

export interface CatalogueProduct {
  code: string;
  name: string;
  category: 'prabayar' | 'pascabayar';
  subcategory: string;
  operator?: string;
  description?: string;
  /** Business time HH:MM. */
  cutOff?: { start: string; end: string };
  /** Username of the seller -> price in rupiah. The first one owns the product. */
  offers: Record<string, number>;
}

/** Operator -> the prefixes of its mobile numbers. */
export const operatorPrefixes = readConfigJson('catalogue', 'operators.json') as Record<string, string[]>;

export function readCatalogue(): CatalogueProduct[] {
  return readdirSync(configPath('catalogue'))
    .filter((name) => name.endsWith('.json') && name !== 'operators.json')
    .sort()
    .flatMap((name) => readConfigJson('catalogue', name) as CatalogueProduct[]);
}
