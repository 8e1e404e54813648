import type { Request } from 'express';
import ipaddr from 'ipaddr.js';
import { ValidationError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';

/** Some gateways append the port: `203.0.113.7:40001`, `[2001:db8::1]:40001`. */
const addressWithPort = /^(?:\[(?<v6>[^\]]+)\]|(?<v4>[\d.]+))(?::\d+)?$/;

/**
 * Returns the client's address without a port. An IPv4-mapped address (`::ffff:`) is returned as
 * IPv4.
 */
export function getClientAddress(request: Request): string {
  const rawAddress = request.ip ?? '';
  const { v4, v6 } = addressWithPort.exec(rawAddress)?.groups ?? {};
  const address = v4 ?? v6 ?? rawAddress;
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

/**
 * Returns the network of one subscriber: the /64 of an IPv6 address, or the IPv4 address itself.
 */
export function getSubscriberNetwork(address: string): string {
  return ipaddr.IPv6.isValid(address)
    ? ipaddr.IPv6.networkAddressFromCIDR(`${ipaddr.IPv6.parse(address).toString()}/64`).toString()
    : address;
}

/**
 * Returns the query parameters as strings.
 * @throws ValidationError for a parameter that is given twice, because two parsers could choose
 * different values.
 */
export function parseQuery(request: Request): Record<string, string> {
  const { first, objection } = readQuery(request);
  if (objection) {
    throw objection;
  }
  return first;
}

/** Returns the first value of each parameter, and the error of a query that must be refused. */
export function readQuery(request: Request): {
  first: Record<string, string>;
  objection: ValidationError | null;
} {
  const at = request.originalUrl.indexOf('?');
  const first: Record<string, string> = Object.create(null) as Record<string, string>;
  const twice: string[] = [];
  for (const [name, value] of new URLSearchParams(at < 0 ? '' : request.originalUrl.slice(at + 1))) {
    if (name in first) {
      twice.push(name.slice(0, 100));
    } else {
      first[name] = value;
    }
  }
  const [field] = twice;
  const objection =
    field === undefined
      ? null
      : new ValidationError([{ field, reason: 'given_twice', message: say('givenTwice', { field }) }]);
  return { first, objection };
}
