/** Formats a test error with its diff and with source lines. */
import fs from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Mocha from 'mocha';

export function describeError(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const stack = error.stack ?? '';
  // Assertions in nested errors change the message after the stack was captured.
  const head = stack.includes(error.message.split('\n')[0] ?? '') ? '' : `${error.name}: ${error.message}\n`;
  const cause = error.cause === undefined ? '' : `\n  caused by ${describeError(error.cause)}`;
  return `${head}${withSourceLines(stack)}${diffOf(error)}${cause}`;
}

function diffOf(error: Error & { showDiff?: boolean; actual?: unknown; expected?: unknown }): string {
  return error.showDiff !== false && 'expected' in error && error.expected !== undefined
    ? Mocha.reporters.Base.generateDiff(
        Mocha.utils.stringify(error.actual),
        Mocha.utils.stringify(error.expected),
      )
    : '';
}

/** The path may be relative, because Mocha shortens paths below the working directory. */
const frame = /([^\s()]+?):(\d+):(\d+)/g;

/**
 * Adds source lines to a stack. Node's own mapping reads every source map at each start, but this
 * function reads only the maps that a failure needs.
 */
function withSourceLines(stack: string): string {
  return stack.replace(frame, (whole, url: string, line: string, column: string) => {
    const file = url.startsWith('file:') ? fileURLToPath(url) : path.resolve(url);
    const entry = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (entry === undefined || !('originalSource' in entry)) {
      return whole;
    }
    const source = path.relative(process.cwd(), path.resolve(path.dirname(file), entry.originalSource));
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

const maps = new Map<string, SourceMap | null>();

function mapOf(file: string): SourceMap | null {
  const known = maps.get(file);
  if (known !== undefined) {
    return known;
  }
  const found = fs.existsSync(`${file}.map`)
    ? new SourceMap(JSON.parse(fs.readFileSync(`${file}.map`, 'utf8')) as SourceMapPayload)
    : null;
  maps.set(file, found);
  return found;
}
