import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/** Some gateways name the port of each connection as well: `203.0.113.7:40001`, `[2001:db8::1]:40001`. */
const addressWithPort = /^(?:\[(?<v6>[^\]]+)\]|(?<v4>[\d.]+))(?::\d+)?$/;

/** The client's address, without a port; an IPv4 one that came mapped into IPv6 (`::ffff:`) is given as IPv4. */
export function getClientAddress(request: Request): string {
  const given = request.ip ?? '';
  const { v4, v6 } = addressWithPort.exec(given)?.groups ?? {};
  const address = v4 ?? v6 ?? given;
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

/** Who is behind an address: one subscriber has a whole /64 of IPv6, so those count as one. */
export function getSubscriberNetwork(address: string): string {
  return ipaddr.IPv6.isValid(address)
    ? ipaddr.IPv6.networkAddressFromCIDR(`${ipaddr.IPv6.parse(address).toString()}/64`).toString()
    : address;
}
