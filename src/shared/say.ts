/** Builds messages from the table in messages.ts. */
import { lookUp } from './collections.js';
import { languages, messages, type Language } from './messages.js';

declare const messageBrand: unique symbol;

/** A text in every language. Only this file creates one. */
export type Message = Readonly<Record<Language, string>> & { readonly [messageBrand]: true };

export type MessageKey = keyof typeof messages;

/** A value that is the same in every language, or another message. */
type Parameter = string | number | Message;

/** Names of the parameters in a text. The name in `{amount:rupiah}` is `amount`. */
type NamesIn<Text extends string> = Text extends `${string}{${infer Inside}}${infer Rest}`
  ? (Inside extends `${infer Name}:${string}` ? Name : Inside) | NamesIn<Rest>
  : never;

type NamesOf<Key extends MessageKey> = NamesIn<(typeof messages)[Key][Language]>;

type ParametersOf<Key extends MessageKey> = [NamesOf<Key>] extends [never]
  ? []
  : [parameters: Record<NamesOf<Key>, Parameter>];

/** Builds a message of the table with its parameters. */
export function say<Key extends MessageKey>(key: Key, ...[parameters]: ParametersOf<Key>): Message {
  return buildMessage((language) => fillTemplate(messages[key][language], parameters ?? {}, language));
}

/**
 * Returns text that is not translated: a provider's words, or English for operators only. Do not
 * use it for our own words to clients. test/api/language/messages.test.ts lists the allowed
 * callers.
 */
export function asWritten(text: string): Message {
  return buildMessage(() => text);
}

/** Builds a message from the texts of Joi, which has a table for each language. */
export function buildJoiMessage(words: Record<Language, string>): Message {
  return buildMessage((language) => words[language]);
}

/** Joins several messages into one. */
export function joinMessages(all: readonly Message[], between: string): Message {
  return buildMessage((language) => all.map((each) => each[language]).join(between));
}

function buildMessage(write: (language: Language) => string): Message {
  return Object.fromEntries(languages.map((language) => [language, write(language)])) as unknown as Message;
}

function fillTemplate(text: string, parameters: Record<string, Parameter>, language: Language): string {
  return text.replace(/\{(\w+)(:rupiah)?\}/g, (_, name: string, isMoney?: string) => {
    const value = lookUp(parameters, name) ?? '';
    if (typeof value === 'object') {
      return value[language];
    }
    return isMoney === undefined ? String(value) : formatRupiah(Number(value));
  });
}

const rupiahFormat = new Intl.NumberFormat('id-ID');

function formatRupiah(amount: number): string {
  return `Rp ${rupiahFormat.format(amount)}`;
}
