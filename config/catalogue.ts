/** The demo catalogue and the operators' prefixes, read from config/catalogue/*.json. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

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

/** From dist/config as well as from config: the folder is not compiled. */
const folder = path.resolve(
  import.meta.dirname,
  import.meta.dirname.includes(`${path.sep}dist${path.sep}`) ? '../../config/catalogue' : 'catalogue',
);

/** Operator -> the prefixes of its mobile numbers. */
export const operatorPrefixes = read('operators.json') as Record<string, string[]>;

export function readCatalogue(): CatalogueProduct[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json') && name !== 'operators.json')
    .sort()
    .flatMap((name) => read(name) as CatalogueProduct[]);
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(path.join(folder, name), 'utf8'));
}
