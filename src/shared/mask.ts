/**
 * Text without what the URLs in it carry for their owners' eyes alone: the values of their queries, fragments, and names before
 * the host.
 */
export function redactUrlSecrets(text: string): string {
  return text.includes('://')
    ? text.replace(urls, (_all, scheme: string, path: string, query?: string, fragment?: string) => {
        const values = query === undefined ? '' : `?${query.split('&').map(redactValue).join('&')}`;
        return `${scheme}${path.replace(/^[^/@]*@/, '***@')}${values}${fragment ? '#***' : ''}`;
      })
    : text;
}

// An apostrophe is a part of a URL: what ended at it would show the rest.
const urls = /(https?:\/\/)([^\s"<>?#]*)(?:\?([^\s"<>#]*))?(?:#([^\s"<>]*))?/gi;

function redactValue(parameter: string): string {
  return `${parameter.slice(0, parameter.indexOf('=') + 1)}***`;
}

/** A number for eyes that need not know all of it (a customer, a bank account): its last four characters are shown, of a short one half. */
export function maskNumber(value: string): string {
  const shown = value.slice(value.length - Math.min(4, Math.floor(value.length / 2)));
  return '*'.repeat(value.length - shown.length) + shown;
}

/** Nothing of it but its length. */
export function maskAll(value: string): string {
  return '*'.repeat(value.length);
}

/** Whether two numbers, of which either may be masked or blotted, can be the same one. */
export function canMatchMasked(one: string, other: string): boolean {
  return (
    one.length === other.length &&
    Array.from({ length: one.length }, (_, at) => [one[at], other[at]]).every(
      ([mine, theirs]) => mine === theirs || mine === '*' || theirs === '*',
    )
  );
}
