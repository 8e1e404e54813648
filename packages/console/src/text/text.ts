import { en } from './en.js';
import { id } from './id.js';

/** The name of a text of the pages. */
export type TextKey = keyof typeof en;

export const language = navigator.language.toLowerCase().startsWith('id') ? 'id' : 'en';
const messages: Record<TextKey, string> = language === 'id' ? id : en;

/** A text in the browser's language; `{name}` is replaced by the value of that name. */
export function t(key: TextKey, values: Record<string, string | number> = {}): string {
  return messages[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
