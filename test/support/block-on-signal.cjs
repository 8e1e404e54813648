/**
 * Loaded with `--require`. On SIGWINCH it blocks the event loop for 30 s, like an infinite loop.
 */
process.on('SIGWINCH', () => {
  const endMs = performance.now() + 30_000;
  while (performance.now() < endMs);
});
