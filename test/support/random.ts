/** A random generator that can be played again: SEED=<n> gives the same numbers. The seed is in the test's name. */
export function seededRandom(): (() => number) & { seed: string } {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  let state = seed;
  const next = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  return Object.assign(next, { seed: `SEED=${seed}` });
}
