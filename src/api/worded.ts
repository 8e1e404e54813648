import type { Language } from '../shared/messages.js';
import type { Message } from '../shared/say.js';

/** The parameter of messages of a field's schema: Joi puts the field's name in its place. */
export const label = { label: '{{#label}}' };

/** Messages by Joi's codes as Joi takes them: the English ones, and beside them those of the other languages. */
export function toJoiMessages(messages: Record<string, Message>) {
  const inLanguage = (language: Language) =>
    Object.fromEntries(Object.entries(messages).map(([code, message]) => [code, message[language]]));
  return { ...inLanguage('en'), id: inLanguage('id') };
}
