/** In which language a client is answered: what its Accept-Language says, or what somebody has decided for it (decision 028). */
import type { Response } from 'express';
import { languages, type Language } from '../../shared/messages.js';
import type { Message } from '../../shared/say.js';
import { getRequestContext } from '../http/request-context.js';

/** Whatever the caller's headers say, as in what follows of this call. */
export function setResponseLanguage(response: Response, language: Language): void {
  getRequestContext(response).language = language;
}

/** The words of a message for the caller, and the headers that say which language they are in. */
export function getMessageText(response: Response, message: Message): string {
  const { language } = getRequestContext(response);
  if (language === null) {
    // Caches must not give one caller's language to another.
    response.vary('Accept-Language');
  }
  const spoken = language ?? getRequestedLanguage(response);
  response.set('Content-Language', spoken);
  return message[spoken];
}

/** English is the first, so it is taken where the header names neither, or is none. */
function getRequestedLanguage({ req }: Response): Language {
  const best = req.acceptsLanguages(...languages);
  return languages.find((each) => each === best) ?? 'en';
}
