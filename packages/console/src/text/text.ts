import { texts } from './texts.js';

/** The key of a text. */
export type TextKey = keyof typeof texts;

export const language = navigator.language.toLowerCase().startsWith('id') ? 'id' : 'en';

/**
 * Returns a text in the language of the browser. Each `{name}` is replaced by the value with that
 * name.
 */
export function t(key: TextKey, values: Record<string, string | number> = {}): string {
  return texts[key][language].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
