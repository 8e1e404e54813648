/** What the addresses of databases have in common. */
export interface Host {
  host: string;
  port: number;
}

const hostPattern = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i;
const portMax = 65_535;

/**
 * Reads `host:port`, or several with commas between them.
 * @param defaultPort of those that name none.
 * @returns null where one of them is no such address.
 */
export function readHosts(text: string, defaultPort: number): Host[] | null {
  const all = text.split(',');
  const hosts = all.flatMap((each) => {
    const [, host, port] = hostPattern.exec(each) ?? [];
    const isThere =
      host !== undefined && (port === undefined || (Number(port) > 0 && Number(port) <= portMax));
    return isThere ? [{ host: host.replace(/^\[|\]$/g, ''), port: Number(port ?? defaultPort) }] : [];
  });
  return hosts.length === all.length ? hosts : null;
}

/** A user or a password of an address; null where its % stands for nothing. */
export function decodeUriPart(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
