/** What a person sees of many processes: one prefixed, coloured line each; and one log file a process. */
import fs from 'node:fs';
import path from 'node:path';
import colours from 'picocolors';

export interface Output {
  /** A line of a process: to the terminal with its prefix, and unchanged to its log file. */
  line: (name: string, text: string) => void;
  /** The same, to its log file alone. */
  keep: (name: string, text: string) => void;
  /** What this program itself is doing. */
  say: (text: string) => void;
  close: () => void;
}

const palette = [colours.cyan, colours.magenta, colours.blue, colours.green, colours.yellow, colours.gray];
const fileBytesMax = 20_000_000;
const nameWidth = 12;

/** @param logsDir one file a process, made when needed; the one before is kept as `<name>.old.log`. */
export function createOutput(logsDir: string, write: (text: string) => void = writeToTerminal): Output {
  fs.mkdirSync(logsDir, { recursive: true });
  const files = new Map<string, LogFile>();
  const print = (name: string, text: string) => {
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
      print(name, readable(text));
    },
    say(text) {
      print('topup', text);
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

/** The same name has the same colour at every start. */
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
  // A full disk must not stop the service for the sake of its logs.
  try {
    file.bytes += fs.writeSync(file.descriptor, `${text}\n`);
  } catch {
    file.bytes += 0;
  }
}

/** Turns a structured log line into words; other lines stay as they are. */
function readable(text: string): string {
  if (!text.startsWith('{')) {
    return text;
  }
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof fields !== 'object' || fields === null || !('level' in fields) || !('message' in fields)) {
    return text;
  }
  const { level, message, timestamp: _timestamp, error, ...rest } = fields as Record<string, unknown>;
  const details = Object.entries(rest)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const words = `${painted(String(level))}${String(message)} ${colours.dim(details.join(' '))}`.trimEnd();
  return error === undefined || error === null ? words : `${words}\n${colours.dim(stackOf(error))}`;
}

function stackOf(error: unknown): string {
  const stack = typeof error === 'object' && error !== null && 'stack' in error ? error.stack : null;
  return typeof stack === 'string' ? stack : JSON.stringify(error);
}

function painted(level: string): string {
  switch (level) {
    case 'error':
      return colours.red('error ');
    case 'warn':
      return colours.yellow('warn ');
    default:
      return '';
  }
}
