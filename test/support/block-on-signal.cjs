/** Loaded into a process by `--require`: SIGWINCH blocks its event loop for 30 s, as a loop that does not end would. */
process.on('SIGWINCH', () => {
  const endMs = performance.now() + 30_000;
  while (performance.now() < endMs);
});
