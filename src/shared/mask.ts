/**
 * Masks the secrets of URLs in a text: query values, fragments, and credentials before the host.
 */
export function redactUrlSecrets(text: string): string {
  return text.includes('://')
    ? text.replace(urlPattern, (_all, scheme: string, path: string, query?: string, fragment?: string) => {
        const values = query === undefined ? '' : `?${query.split('&').map(redactValue).join('&')}`;
        return `${scheme}${path.replace(/^[^/@]*@/, '***@')}${values}${fragment ? '#***' : ''}`;
      })
    : text;
}

// An apostrophe is a valid character of a URL. A match that ended there would leave the rest of the
// URL unmasked.
const urlPattern = /(https?:\/\/)([^\s"<>?#]*)(?:\?([^\s"<>#]*))?(?:#([^\s"<>]*))?/gi;

function redactValue(parameter: string): string {
  return `${parameter.slice(0, parameter.indexOf('=') + 1)}***`;
}

/**
 * Masks a customer or bank account number except for its last four characters, or half of a short
 * number.
 */
export function maskNumber(value: string): string {
  const shown = value.slice(value.length - Math.min(4, Math.floor(value.length / 2)));
  return '*'.repeat(value.length - shown.length) + shown;
}

/** Masks a text completely. Only its length remains. */
export function maskAll(value: string): string {
  return '*'.repeat(value.length);
}

/** True if two numbers, either of which may be masked, can be the same. */
export function canMatchMasked(one: string, other: string): boolean {
  return (
    one.length === other.length &&
    Array.from({ length: one.length }, (_, at) => [one[at], other[at]]).every(
      ([mine, theirs]) => mine === theirs || mine === '*' || theirs === '*',
    )
  );
}
