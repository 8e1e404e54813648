// Loaded by `--require`. SIGWINCH starts blocking the event loop repeatedly; the next SIGWINCH
// stops it.
const blockMs = 700;
let timer = null;
process.on('SIGWINCH', () => {
  if (timer !== null) {
    clearInterval(timer);
    timer = null;
    return;
  }
  timer = setInterval(() => {
    const untilMs = Date.now() + blockMs;
    while (Date.now() < untilMs);
  }, blockMs + 50);
});
