import { MongoError } from '../errors.js';
import { translatePcre } from './pcre-translator.js';

const CACHE_MAX = 500;
const cache = new Map<string, RegExp>();

/**
 * The JS regular expression that matches what PCRE with UTF matches. Captures are the named groups g1, g2, ...
 * @throws MongoError 51091 for an invalid or untranslatable pattern, 51108 for an unknown flag.
 */
export function compilePcre(pattern: string, options: string): RegExp {
  const key = `${options}/${pattern}`;
  let regex = cache.get(key);
  if (regex === undefined) {
    regex = compile(pattern, options);
    if (cache.size >= CACHE_MAX) {
      cache.clear();
    }
    cache.set(key, regex);
  }
  return regex;
}

function compile(pattern: string, options: string): RegExp {
  const unknown = /[^imsxu]/.exec(options);
  if (unknown !== null) {
    throw new MongoError(51108, `invalid flag in regex options: ${unknown[0]}`);
  }
  const { source, ignoreCase } = translatePcre(pattern, options);
  try {
    return new RegExp(source, ignoreCase ? 'ui' : 'u');
  } catch {
    throw new MongoError(51091, 'Regular expression is invalid: it cannot be compiled');
  }
}
