/** Returns generators of values that attackers and broken programs send, driven by `random`. */
export function createJunkGenerators(random: () => number) {
  const below = (max: number): number => Math.floor(random() * max);
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const junk = (): string =>
    one([
      '',
      ' ',
      '\u0000',
      '\n',
      '%',
      '%00',
      '%ff%fe',
      '%2e%2e%2f',
      '../../etc/passwd',
      '__proto__',
      'constructor',
      'null',
      'true',
      '-1',
      '1e309',
      '9'.repeat(400),
      'x'.repeat(1 + below(3_000)),
      "' OR 1=1 --",
      '{"$gt":""}',
      '💥'.repeat(9),
      '\u202e\u001b[2J',
      '${7*7}',
      '<script>',
      'a=b&a=c',
      ';',
      '#',
      '[]',
      'S10',
      '081234567890',
    ]);
  const hostileValue = (): unknown =>
    one<unknown>([
      junk(),
      junk(),
      { $gt: '' },
      { $where: '1' },
      [],
      [[]],
      {},
      null,
      true,
      0,
      -1,
      1.5,
      2 ** 53,
      1e308,
      Array(below(20_000)).fill(0),
      JSON.parse('{"__proto__":{"admin":1}}'),
      'x'.repeat(below(90_000)),
    ]);
  return { below, one, junk, hostileValue };
}
