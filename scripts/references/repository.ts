import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { anchorsOf, headingsOf } from './markdown.js';
import { topupCommands, type TopupCommands } from './topup-commands.js';

/** What a reference can lead to. All paths are from the root of the repository, with slashes. */
export interface Repository {
  /** Text of every file whose references are checked. */
  texts: ReadonlyMap<string, string>;
  /** Files and directories. */
  paths: ReadonlySet<string>;
  /** Of each Markdown document. */
  anchors: ReadonlyMap<string, ReadonlySet<string>>;
  headings: ReadonlyMap<string, readonly string[]>;
  /** Numbers of docs/decisions, such as `007`, as often as they are there. */
  decisions: readonly string[];
  npmScripts: ReadonlySet<string>;
  topupCommands: TopupCommands;
}

/** Written by `npm run generate` or by the first release (scripts/check-openapi.ts), and not in the repository before. */
const writtenLater = [
  'packages/client-node/src/schema.ts',
  'packages/client-node/src/calls.ts',
  'packages/console/src/api/schema.d.ts',
  'scripts/openapi/baseline.json',
  'scripts/openapi/accepted-breaks.json',
];
/** It plants dead references. */
const ownTest = 'test/scripts/check-references.test.ts';
const checkedFiles = /\.(?:ts|mjs|cjs|js|md|yml|yaml)$|(?:^|\/)(?:Dockerfile|Procfile|\.env\.example)$/;

/** The repository at `root` as git knows it, with what is new and not ignored. */
export function readRepository(root: string): Repository {
  const files = filesOf(root);
  const read = (file: string) => fs.readFileSync(path.join(root, file), 'utf8');
  const packages = files.filter((file) => path.posix.basename(file) === 'package.json');
  return describeRepository({
    files: [...files, ...writtenLater],
    texts: new Map(files.filter(isChecked).map((file) => [file, read(file)])),
    npmScripts: new Set(packages.flatMap((file) => scriptsIn(read(file)))),
    topupCommands: topupCommands(),
  });
}

/** @param files Every file, also those whose text is not checked. */
export function describeRepository(
  known: Pick<Repository, 'texts' | 'npmScripts' | 'topupCommands'> & { files: readonly string[] },
): Repository {
  const { files, ...rest } = known;
  const documents = [...known.texts].filter(([file]) => file.endsWith('.md'));
  return {
    ...rest,
    paths: new Set(files.flatMap(withDirectories)),
    anchors: new Map(documents.map(([file, text]) => [file, anchorsOf(text)])),
    headings: new Map(documents.map(([file, text]) => [file, headingsOf(text)])),
    decisions: files.flatMap((file) => /^docs\/decisions\/(\d{3})-/.exec(file)?.[1] ?? []),
  };
}

function filesOf(root: string): string[] {
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const listed = execFileSync('git', options, { cwd: root, encoding: 'utf8', maxBuffer: 64_000_000 });
  // A file that was deleted and is not committed yet is still listed.
  return listed.split('\0').filter((file) => file !== '' && fs.existsSync(path.join(root, file)));
}

function isChecked(file: string): boolean {
  return checkedFiles.test(file) && file !== ownTest;
}

function scriptsIn(packageJson: string): string[] {
  const { scripts = {} } = JSON.parse(packageJson) as { scripts?: Record<string, string> };
  return Object.keys(scripts);
}

function withDirectories(file: string): string[] {
  const parts = file.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
