/**
 * HTML that is safe by default: every value in an `html` template is escaped, unless it is HTML
 * itself.
 */
import { lookUp } from './collections.js';

export interface Html {
  readonly html: string;
}

type Value = Html | Html[] | string | number;

export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return { html: parts.reduce((text, part, index) => text + toText(values[index - 1] ?? '') + part) };
}

function toText(value: Value): string {
  if (Array.isArray(value)) {
    return value.map((each) => each.html).join('');
  }
  return typeof value === 'object' ? value.html : escapeHtml(String(value));
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => lookUp(entities, character) ?? character);
}
