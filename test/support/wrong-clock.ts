/** Returns the environment for a process whose clock is `ms` ahead. */
export function buildEnvWithClockAhead(ms: number): NodeJS.ProcessEnv {
  const program = `
    const Real = Date;
    globalThis.Date = class Date extends Real {
      constructor(...given) { super(...(given.length > 0 ? given : [Real.now() + ${ms}])); }
      static now() { return Real.now() + ${ms}; }
    };`;
  return { ...process.env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}
