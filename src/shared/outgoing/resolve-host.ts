/**
 * Addresses of a host name, one lookup for each family (RFC 8305). Some resolvers drop AAAA queries.
 * A lookup of both families together would then fail or take many seconds.
 */
import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** The addresses of one family. Empty if the name has none. */
export type FamilyLookup = Promise<LookupAddress[]>;

/** Time that the second family may take after the first one (RFC 8305, section 3). */
export const resolutionDelayMs = 50;

type Family = 4 | 6;
const families: Family[] = [4, 6];

/**
 * A lookup of the system occupies one of libuv's four threads, for many seconds if AAAA queries are
 * dropped. With this limit, lookups of IPv4 addresses always find a free thread.
 */
const ipv6LookupsMax = 2;
const lookupsUnderWay = new Map<string, FamilyLookup>();
let ipv6LookupsUnderWay = 0;

/** Resolves as other programs on the machine do, with /etc/hosts. */
export function resolveBySystem(hostname: string): FamilyLookup[] {
  return families.map((family) => {
    const key = `${family} ${hostname}`;
    const underWay = lookupsUnderWay.get(key);
    if (underWay) {
      return underWay;
    }
    if (family === 6 && ipv6LookupsUnderWay >= ipv6LookupsMax) {
      return Promise.resolve([]);
    }
    const count = family === 6 ? 1 : 0;
    ipv6LookupsUnderWay += count;
    const lookup = dns.lookup(hostname, { family, all: true }).finally(() => {
      ipv6LookupsUnderWay -= count;
      lookupsUnderWay.delete(key);
    });
    lookupsUnderWay.set(key, lookup);
    return lookup;
  });
}

/** Queries name servers directly, so that slow ones do not block the threads of the system. */
export function resolveByDns(resolver: dns.Resolver, hostname: string): FamilyLookup[] {
  return families.map(async (family) => {
    const addresses = await (family === 4 ? resolver.resolve4(hostname) : resolver.resolve6(hostname));
    return addresses.map((address) => ({ address, family }));
  });
}

/** The host name itself if it is an address, otherwise the result of `resolve`. */
export function resolveHost(hostname: string, resolve: (name: string) => FamilyLookup[]): FamilyLookup[] {
  const family = isIP(hostname);
  return family === 0 ? resolve(hostname) : [Promise.resolve([{ address: hostname, family }])];
}

/**
 * Waits until one family has addresses, and for the other family at most `delayMs` longer.
 * @throws The error of the first lookup if no family has addresses.
 */
export async function collectAddresses(
  lookups: FamilyLookup[],
  delayMs = resolutionDelayMs,
): Promise<LookupAddress[]> {
  const found: LookupAddress[][] = lookups.map(() => []);
  const all = Promise.allSettled(
    lookups.map(async (lookup, index) => {
      found[index] = await lookup;
    }),
  );
  const first = Promise.any(
    lookups.map(async (lookup) => ((await lookup).length > 0 ? true : Promise.reject(new NoAddressError()))),
  );
  await Promise.race([
    all,
    first.then(
      () => wait(delayMs),
      () => all,
    ),
  ]);
  const addresses = found.flat();
  if (addresses.length === 0) {
    await lookups[0];
    throw new NoAddressError();
  }
  return addresses;
}

/** The host name exists but has no address. */
export class NoAddressError extends Error {
  readonly code = 'ENODATA';

  constructor() {
    super('The host name has no address');
  }
}
