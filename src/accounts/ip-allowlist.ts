/** IP allowlists of accounts (docs/reference/api/authentication.md#access-rules). */
import ipaddr from 'ipaddr.js';

type Network = [address: ipaddr.IPv4 | ipaddr.IPv6, prefixBits: number];

/**
 * Returns the stored form of an entry: an IPv4 or IPv6 address, or a CIDR network with its host
 * bits cleared. IPv4-mapped IPv6 (`::ffff:`) becomes IPv4.
 * @returns Null if the entry is neither an address nor a network.
 */
export function normalizeAllowlistEntry(entry: string): string | null {
  const network = parseNetwork(entry);
  if (!network) {
    return null;
  }
  const [address, bits] = network;
  if (!entry.includes('/')) {
    return address.toString();
  }
  const cidr = `${address.toString()}/${bits}`;
  const first =
    address.kind() === 'ipv4'
      ? ipaddr.IPv4.networkAddressFromCIDR(cidr)
      : ipaddr.IPv6.networkAddressFromCIDR(cidr);
  return `${first.toString()}/${bits}`;
}

/** True if the list is empty or contains the address. No list contains an invalid address. */
export function isOnAllowlist(allowlist: readonly string[], address: string): boolean {
  if (allowlist.length === 0) {
    return true;
  }
  if (!ipaddr.isValid(address)) {
    return false;
  }
  const caller = ipaddr.process(address);
  return parseNetworks(allowlist).some(
    ([network, bits]) => network.kind() === caller.kind() && caller.match(network, bits),
  );
}

/** The parsed networks of each cached list, so that a list is parsed once per cached account. */
const networksByList = new WeakMap<readonly string[], Network[]>();

function parseNetworks(allowlist: readonly string[]): Network[] {
  let networks = networksByList.get(allowlist);
  if (!networks) {
    networks = allowlist.map(parseNetwork).filter((each) => each !== null);
    networksByList.set(allowlist, networks);
  }
  return networks;
}

function parseNetwork(entry: string): Network | null {
  const [text = '', prefix, ...rest] = entry.split('/');
  const address = parseAddress(text);
  if (!address || rest.length > 0 || (prefix !== undefined && !/^(0|[1-9]\d{0,2})$/.test(prefix))) {
    return null;
  }
  const bitsMax = address.kind() === 'ipv4' ? 32 : 128;
  const bits = prefix === undefined ? bitsMax : Number(prefix);
  if (bits > bitsMax) {
    return null;
  }
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) {
    return bits < 96 ? null : [address.toIPv4Address(), bits - 96];
  }
  return [address, bits];
}

/**
 * Accepts only four decimal parts, or IPv6 without a zone. Forms like `10.1` or `0x0a000001` are
 * likely mistakes.
 */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) {
    return ipaddr.IPv4.parse(text);
  }
  return text.includes(':') && !text.includes('%') && ipaddr.IPv6.isValid(text)
    ? ipaddr.IPv6.parse(text)
    : null;
}
