/**
 * What a request asks for. A target that is neither a path nor an address of a host, as `http://[::1/` or `abc://`, becomes a
 * path that there is not: the router of Express finds no path in it and would answer by itself, before anything of ours.
 */
export function normalizeRequestTarget(given = '/'): string {
  return given.startsWith('/') || (/^https?:\/\/[^/?#]/i.test(given) && URL.canParse(given))
    ? given
    : '/no-address';
}
