import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/** The client's address; an IPv4 one that came mapped into IPv6 (`::ffff:`) is given as IPv4. */
export function addressOf(request: Request): string {
  const address = request.ip ?? '';
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

/** Who is behind an address: one subscriber has a whole /64 of IPv6, so those count as one. */
export function subscriberOf(address: string): string {
  return ipaddr.IPv6.isValid(address)
    ? ipaddr.IPv6.networkAddressFromCIDR(`${ipaddr.IPv6.parse(address).toString()}/64`).toString()
    : address;
}
