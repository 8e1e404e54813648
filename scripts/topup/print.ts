import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import path from 'node:path';
import { toPrintableLines } from '../../src/shared/printable.js';
import { colours } from './format.js';
import { OutageError } from './outage.js';
import { UsageError } from './usage-error.js';

/** The result of a command. With --json `data` is printed, otherwise `text` unless it is empty. */
export interface Output {
  data: unknown;
  text: string;
  /** True if a check failed, which sets the exit code 1. */
  failed?: boolean;
}

export function printOutput(output: Output, json: boolean): void {
  const text = json ? JSON.stringify(output.data, null, 2) : output.text;
  process.stdout.write(text === '' ? '' : `${toPrintableLines(text)}\n`);
}

/** @returns The exit code: 2 for wrong usage, otherwise 1. */
export async function printFailure(error: unknown, json: boolean): Promise<1 | 2> {
  const message = toPrintableLines(await explain(error));
  if (json) {
    process.stdout.write(`${JSON.stringify({ error: message }, null, 2)}\n`);
  } else {
    process.stderr.write(`${colours.red('error:')} ${message}\n`);
  }
  return error instanceof UsageError ? 2 : 1;
}

async function explain(error: unknown): Promise<string> {
  if (error instanceof UsageError || error instanceof OutageError) {
    return error.message;
  }
  // Imported lazily, because --help needs this module without a configuration.
  const [{ AppError }, { redact }] = await Promise.all([
    import('../../src/shared/errors.js'),
    import('../../src/shared/logger.js'),
  ]);
  if (error instanceof AppError) {
    return [error.message, error.atCommandLine].filter((each) => each !== undefined).join(' ');
  }
  return String(redact(error instanceof Error ? mapToSources(error.stack ?? error.message) : String(error)));
}

/**
 * Maps a stack to source files and lines. The source map is read only here, because loading it
 * would slow down each start.
 */
export function mapToSources(stack: string): string {
  const maps = new Map<string, SourceMap | null>();
  return stack.replace(
    /(\/[^\s():]+\.cjs):(\d+):(\d+)/g,
    (place, file: string, line: string, column: string) => {
      const map = maps.get(file) ?? readMap(file);
      maps.set(file, map);
      const found = map?.findEntry(Number(line) - 1, Number(column) - 1);
      return found !== undefined && 'originalSource' in found
        ? `${path.resolve(path.dirname(file), found.originalSource)}:${found.originalLine + 1}:${found.originalColumn + 1}`
        : place;
    },
  );
}

function readMap(bundle: string): SourceMap | null {
  const file = `${bundle}.map`;
  return existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload) : null;
}
