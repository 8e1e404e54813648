/**
 * Keeps outgoing requests away from the internal network (SSRF). A URL and its resolved addresses
 * are checked when the URL is saved and at each attempt. The connection's own lookup returns the
 * checked addresses, so a name cannot change in between.
 */
import { promises as dns, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { env } from '../../../config/env.js';
import { limits } from '../../../config/limits.js';
import { say, type Message } from '../../shared/say.js';

export interface UrlGuard {
  /** Returns the problem of a URL as written, for the client. Null if there is none. */
  problemOf(url: string): Message | null;
  /** Like `problemOf`, but also resolves the host name. */
  problemWhenSaved(url: string): Promise<Message | null>;
  /** Lookup for the HTTP client's sockets. `problemOf` checks literal addresses. */
  lookup: LookupFunction;
}

export interface UrlGuardOptions {
  /**
   * Development only: allows http, loopback and private addresses, but not cloud metadata
   * addresses.
   */
  allowPrivate: boolean;
  /** Resolves all addresses of a name. */
  resolve?: (hostname: string) => Promise<LookupAddress[]>;
}

/** The name or the address must not be called. */
export class BlockedAddressError extends Error {
  readonly code = 'EBLOCKED';
}

export function createUrlGuard(options: UrlGuardOptions): UrlGuard {
  const { allowPrivate, resolve = allowPrivate ? resolveBySystem : resolveByDns } = options;

  const resolveAllowed = async (hostname: string): Promise<LookupAddress[]> => {
    const addresses = await resolve(hostname);
    const isLet = allowPrivate ? isNotCloudInternal : isPublicAddress;
    if (!addresses.every(({ address }) => isLet(address))) {
      throw new BlockedAddressError('The host name resolves to an address that is not public');
    }
    return addresses;
  };

  const problemOf = (text: string) => findUrlProblem(text, allowPrivate);

  return {
    problemOf,
    problemWhenSaved: async (text) => {
      const problem = problemOf(text);
      if (problem !== null || allowPrivate || getLiteralAddress(new URL(text).hostname) !== null) {
        return problem;
      }
      try {
        await resolveAllowed(new URL(text).hostname);
        return null;
      } catch (error) {
        return error instanceof BlockedAddressError ? say('urlNotPublic') : say('urlNoHost');
      }
    },
    lookup: (hostname, lookupOptions, callback) => {
      resolveAllowed(hostname).then(
        (addresses) => {
          const [first] = addresses;
          if (!first) {
            callback(Object.assign(new Error('No address'), { code: 'ENOTFOUND' }), '', 0);
          } else if (lookupOptions.all) {
            callback(null, addresses);
          } else {
            callback(null, first.address, first.family);
          }
        },
        (error: unknown) => callback(error as NodeJS.ErrnoException, '', 0),
      );
    },
  };
}

/** The guard of this process, configured by WEBHOOK_ALLOW_PRIVATE. */
export const urlGuard = createUrlGuard({ allowPrivate: env.WEBHOOK_ALLOW_PRIVATE });

function findUrlProblem(text: string, allowPrivate: boolean): Message | null {
  if (text.length > limits.urlLengthMax || !URL.canParse(text)) {
    return say('urlNoUrl');
  }
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) {
    return allowPrivate ? say('urlHttpOrHttps') : say('urlHttps');
  }
  if (url.username !== '' || url.password !== '') {
    return say('urlCredentials');
  }
  const port = url.port === '' ? 443 : Number(url.port);
  if (![80, 443, 8080, 8443].includes(port) && port <= 1_024) {
    return say('urlPort');
  }
  const literal = getLiteralAddress(url.hostname);
  if (allowPrivate) {
    return literal === null || isNotCloudInternal(literal) ? null : say('urlPrivate');
  }
  if (literal !== null) {
    return isPublicAddress(literal) ? null : say('urlPrivate');
  }
  // A name without a dot belongs to the internal network, because a DNS search list could complete
  // it.
  const labels = url.hostname.replace(/\.$/, '').split('.');
  return labels.length > 1 && labels.at(-1) !== 'localhost' ? null : say('urlHostName');
}

/** `new URL()` has already normalized decimal, octal, hex, short and full-width forms. */
function getLiteralAddress(hostname: string): string | null {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(bare) ? bare : null;
}

const globalIpv6 = ipaddr.parseCIDR('2000::/3');
/** Addresses of cloud-internal services in public, shared or private ranges. */
const cloudInternalAddresses = new Set(['168.63.129.16', '100.100.100.200', 'fd00:ec2::254']);

/** Clouds serve machine credentials at these addresses, so they are blocked even in development. */
function isNotCloudInternal(text: string): boolean {
  const address = ipaddr.process(text);
  return address.range() !== 'linkLocal' && !cloudInternalAddresses.has(address.toString());
}

/** True for addresses of the public internet that are not this machine's own. */
export function isPublicAddress(text: string): boolean {
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast' || cloudInternalAddresses.has(address.toString())) {
    return false;
  }
  if (address.kind() === 'ipv6' && !address.match(globalIpv6)) {
    return false;
  }
  return !getOwnAddresses().has(address.toNormalizedString());
}

function getOwnAddresses(): Set<string> {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return new Set(all.map(({ address }) => ipaddr.process(address).toNormalizedString()));
}

/** Resolves like other programs on the machine, with /etc/hosts, for development. */
async function resolveBySystem(hostname: string): Promise<LookupAddress[]> {
  return dns.lookup(hostname, { all: true });
}

/** Queries name servers directly, because a slow one would block the system resolver's threads. */
async function resolveByDns(hostname: string): Promise<LookupAddress[]> {
  return resolveAllAddresses(new dns.Resolver({ timeout: 1_500, tries: 2 }), hostname);
}

/**
 * Resolves IPv4 and IPv6 addresses of a name.
 * @throws The name server's error if the name has no addresses.
 */
export async function resolveAllAddresses(
  resolver: dns.Resolver,
  hostname: string,
): Promise<LookupAddress[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [
    ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (addresses.length === 0 && v4.status === 'rejected') {
    throw v4.reason;
  }
  return addresses;
}
