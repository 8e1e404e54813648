/** The language of a response: from Accept-Language, or set for the call (decision 028). */
import type { Response } from 'express';
import { languages, type Language } from '../../shared/messages.js';
import type { Message } from '../../shared/say.js';
import { getRequestContext } from '../http/request-context.js';

/** Sets the language for the rest of the call, whatever its headers say. */
export function setResponseLanguage(response: Response, language: Language): void {
  getRequestContext(response).language = language;
}

/** Returns a message in the caller's language, and sets the headers for the language. */
export function getMessageText(response: Response, message: Message): string {
  const { language } = getRequestContext(response);
  if (language === null) {
    // Caches must not serve one caller's language to another.
    response.vary('Accept-Language');
  }
  const spoken = language ?? getRequestedLanguage(response);
  response.set('Content-Language', spoken);
  return message[spoken];
}

/**
 * English is the first language, so it is the default if the header is missing or names no
 * supported language.
 */
function getRequestedLanguage({ req }: Response): Language {
  const best = req.acceptsLanguages(...languages);
  return languages.find((each) => each === best) ?? 'en';
}
