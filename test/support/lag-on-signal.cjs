// Loaded by --require: from SIGWINCH on the event loop is late again and again, until the next SIGWINCH.
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
