/**
 * Output of many processes: prefixed, coloured lines at the terminal, and one log file per process.
 */
import fs from 'node:fs';
import path from 'node:path';
import colours from 'picocolors';

export interface Output {
  /** Prints a process's line with its prefix, and logs it unchanged. */
  line: (name: string, text: string) => void;
  /** Logs a line without printing it. */
  keep: (name: string, text: string) => void;
  /** Prints a message of this program. */
  say: (text: string) => void;
  /** Stops terminal output. The log files still receive all lines. */
  hush: () => void;
  close: () => void;
}

const palette = [colours.cyan, colours.magenta, colours.blue, colours.green, colours.yellow, colours.gray];
const fileBytesMax = 20_000_000;
const nameWidth = 12;
/**
 * A repeated warning or error of the same process is printed once within this time, in
 * milliseconds.
 */
const repeatMs = 10_000;

/**
 * @param logsDir Directory with one log file per process. The previous file is kept as
 * `<name>.old.log`.
 */
export function createOutput(logsDir: string, write: (text: string) => void = writeToTerminal): Output {
  fs.mkdirSync(logsDir, { recursive: true });
  const files = new Map<string, LogFile>();
  const complaints = new Map<string, { printedAt: number; more: number }>();
  let isHushed = false;
  const print = (name: string, text: string) => {
    if (isHushed) {
      return;
    }
    const paint = palette[colourOf(name)] ?? colours.gray;
    write(`${paint(`${name.padEnd(nameWidth)}|`)} ${text}\n`);
  };
  const keep = (name: string, text: string) => {
    const file = files.get(name) ?? openLogFile(path.join(logsDir, name));
    files.set(name, file);
    appendLine(file, text);
  };
  return {
    keep,
    line(name, text) {
      keep(name, text);
      const { words, complaint } = parseLogLine(text);
      const before = complaint === null ? undefined : complaints.get(`${name}: ${complaint}`);
      if (before !== undefined && performance.now() - before.printedAt < repeatMs) {
        before.more += 1;
        return;
      }
      if (complaint !== null) {
        complaints.set(`${name}: ${complaint}`, { printedAt: performance.now(), more: 0 });
      }
      const more = before?.more ?? 0;
      print(
        name,
        more === 0
          ? words
          : `${words}\n${colours.dim(`(${more} more of these: ${path.join(logsDir, name)}.log)`)}`,
      );
    },
    say(text) {
      print('topup', text);
    },
    hush() {
      isHushed = true;
    },
    close() {
      for (const file of files.values()) {
        fs.closeSync(file.descriptor);
      }
      files.clear();
    },
  };
}

function writeToTerminal(text: string): void {
  process.stdout.write(text);
}

/** Returns the colour of a name, which is the same at every start. */
function colourOf(name: string): number {
  return Buffer.from(name).reduce((sum, byte) => sum + byte, 0) % palette.length;
}

interface LogFile {
  base: string;
  descriptor: number;
  bytes: number;
}

function openLogFile(base: string): LogFile {
  if (fs.existsSync(`${base}.log`)) {
    fs.renameSync(`${base}.log`, `${base}.old.log`);
  }
  return { base, descriptor: fs.openSync(`${base}.log`, 'a'), bytes: 0 };
}

function appendLine(file: LogFile, text: string): void {
  if (file.bytes > fileBytesMax) {
    fs.closeSync(file.descriptor);
    Object.assign(file, openLogFile(file.base));
  }
  // A full disk must not stop the service only because of its logs.
  try {
    file.bytes += fs.writeSync(file.descriptor, `${text}\n`);
  } catch {
    file.bytes += 0;
  }
}

/**
 * Formats a structured log line. Other lines are returned unchanged. `complaint` is the text of a
 * warning or error, without details.
 */
function parseLogLine(text: string): { words: string; complaint: string | null } {
  const asItIs = { words: text, complaint: null };
  if (!text.startsWith('{')) {
    return asItIs;
  }
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch {
    return asItIs;
  }
  if (typeof fields !== 'object' || fields === null || !('level' in fields) || !('message' in fields)) {
    return asItIs;
  }
  const { level, message, timestamp: _timestamp, error, ...rest } = fields as Record<string, unknown>;
  const details = Object.entries(rest)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const words = `${colourLevel(String(level))}${String(message)} ${colours.dim(details.join(' '))}`.trimEnd();
  const stack = error === undefined || error === null ? '' : stackOf(error);
  return {
    words: stack === '' ? words : `${words}\n${colours.dim(stack)}`,
    complaint: ['warn', 'error'].includes(String(level))
      ? `${String(message)} ${stack.split('\n')[0] ?? ''}`
      : null,
  };
}

function stackOf(error: unknown): string {
  const stack = typeof error === 'object' && error !== null && 'stack' in error ? error.stack : null;
  return typeof stack === 'string' ? stack : JSON.stringify(error);
}

function colourLevel(level: string): string {
  switch (level) {
    case 'error':
      return colours.red('error ');
    case 'warn':
      return colours.yellow('warn ');
    default:
      return '';
  }
}
