import { expect } from 'chai';
import { isOnAllowlist, normalizeAllowlistEntry } from '../../../src/accounts/ip-allowlist.js';

describe('IP allowlist', () => {
  it('an empty list accepts every address, and a list refuses unreadable ones', () => {
    expect(isOnAllowlist([], '203.0.113.7')).to.equal(true);
    expect(isOnAllowlist([], 'unreadable')).to.equal(true);
    expect(isOnAllowlist(['203.0.113.7'], 'unreadable')).to.equal(false);
    expect(isOnAllowlist(['203.0.113.7'], '')).to.equal(false);
  });

  const inside: [entry: string, address: string, on: boolean][] = [
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '::ffff:203.0.113.7', true],
    ['203.0.113.7', '::ffff:cb00:7107', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['203.0.113.0/24', '203.0.113.0', true],
    ['203.0.113.0/24', '203.0.113.255', true],
    ['203.0.113.0/24', '203.0.114.0', false],
    ['203.0.113.0/25', '203.0.113.128', false],
    ['0.0.0.0/0', '198.51.100.1', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '2001:db8::1', true],
    ['::/0', '198.51.100.1', false],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['2001:db8::1', '2001:0DB8:0:0::1', true],
    ['::ffff:10.0.0.0/104', '10.255.0.1', true],
    ['::ffff:10.0.0.0/104', '11.0.0.1', false],
  ];
  for (const [entry, address, on] of inside) {
    it(`${entry} ${on ? 'contains' : 'does not contain'} ${address}`, () => {
      expect(isOnAllowlist([entry], address)).to.equal(on);
      expect(isOnAllowlist([normalizeAllowlistEntry(entry) ?? ''], address)).to.equal(on);
      expect(isOnAllowlist(['192.0.2.1', '2001:db8:1::/127', entry], address)).to.equal(on);
    });
  }
});
