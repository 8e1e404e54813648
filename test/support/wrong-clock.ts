/** The environment of a process on a host whose clock is ahead by so many milliseconds. */
export function aheadBy(ms: number): NodeJS.ProcessEnv {
  const program = `
    const Real = Date;
    globalThis.Date = class Date extends Real {
      constructor(...given) { super(...(given.length > 0 ? given : [Real.now() + ${ms}])); }
      static now() { return Real.now() + ${ms}; }
    };`;
  return { ...process.env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}
