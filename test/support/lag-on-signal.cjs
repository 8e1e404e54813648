// Loaded with `--require`. On SIGWINCH it starts to block the event loop repeatedly. The next
// SIGWINCH stops that.
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
