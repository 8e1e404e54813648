/**
 * Keeps outgoing requests away from the internal network (SSRF). A URL and its resolved addresses
 * are checked when the URL is saved and at each attempt. The connection is made to an address that
 * was checked, without another lookup, so a name cannot change in between.
 */
import { promises as dns, type LookupAddress } from 'node:dns';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { env } from '../../../config/env.js';
import { limits } from '../../../config/limits.js';
import {
  collectAddresses,
  resolveByDns,
  resolveBySystem,
  type FamilyLookup,
} from '../../shared/outgoing/resolve-host.js';
import { say, type Message } from '../../shared/say.js';

export interface UrlGuard {
  /** Returns the problem of a URL as written, for the client. Null if there is none. */
  problemOf(url: string): Message | null;
  /** Like `problemOf`, but also resolves the host name. */
  problemWhenSaved(url: string): Promise<Message | null>;
  /** Starts one lookup for each family of addresses. Check the addresses before use. */
  resolve: (hostname: string) => FamilyLookup[];
  /** @throws BlockedAddressError if one of the addresses must not be called. */
  requireAllowed: (addresses: LookupAddress[]) => void;
}

export interface UrlGuardOptions {
  /**
   * Development only: allows http, loopback and private addresses, but not cloud metadata
   * addresses.
   */
  allowPrivate: boolean;
  /** Starts one lookup for each family of addresses. */
  resolve?: (hostname: string) => FamilyLookup[];
}

/** The name or the address must not be called. */
export class BlockedAddressError extends Error {
  readonly code = 'EBLOCKED';
}

export function createUrlGuard(options: UrlGuardOptions): UrlGuard {
  const { allowPrivate, resolve = allowPrivate ? resolveBySystem : resolveByNameServers } = options;
  const isLet = allowPrivate ? isNotCloudInternal : isPublicAddress;
  const requireAllowed = (addresses: LookupAddress[]) => {
    if (!addresses.every(({ address }) => isLet(address))) {
      throw new BlockedAddressError('The host name resolves to an address that is not public');
    }
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
        requireAllowed(await collectAddresses(resolve(new URL(text).hostname), secondFamilyWhenSavedMs));
        return null;
      } catch (error) {
        return error instanceof BlockedAddressError ? say('urlNotPublic') : say('urlNoHost');
      }
    },
    resolve,
    requireAllowed,
  };
}

/** Saving a URL can wait longer than an attempt for the second family of addresses. */
const secondFamilyWhenSavedMs = 1_000;

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

/** Queries name servers directly, because a slow one would block the system resolver's threads. */
function resolveByNameServers(hostname: string): FamilyLookup[] {
  return resolveByDns(new dns.Resolver({ timeout: 1_500, tries: 2 }), hostname);
}
