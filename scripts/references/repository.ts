import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { anchorsOf, headingsOf } from './markdown.js';
import { topupCommands, type TopupCommands } from './topup-commands.js';

/** Possible targets of references. All paths are relative to the root, with slashes. */
export interface Repository {
  /** Text of every checked file. */
  texts: ReadonlyMap<string, string>;
  /** Files and directories. */
  paths: ReadonlySet<string>;
  /** Anchors by Markdown document. */
  anchors: ReadonlyMap<string, ReadonlySet<string>>;
  headings: ReadonlyMap<string, readonly string[]>;
  /** Numbers in docs/decisions, such as `007`, including duplicates. */
  decisions: readonly string[];
  npmScripts: ReadonlySet<string>;
  topupCommands: TopupCommands;
}

/**
 * Files that `npm run generate` or the first release (scripts/check-openapi.ts) writes. They are
 * not in the repository.
 */
const generatedFiles = [
  'packages/client-node/src/schema.ts',
  'packages/client-node/src/calls.ts',
  'packages/console/src/api/schema.d.ts',
  'scripts/openapi/baseline.json',
  'scripts/openapi/accepted-breaks.json',
];
/** This test contains dead references on purpose. */
const ownTest = 'test/scripts/check-references.test.ts';
const checkedFiles = /\.(?:ts|mjs|cjs|js|md|yml|yaml)$|(?:^|\/)(?:Dockerfile|Procfile|\.env\.example)$/;

/** Reads the repository at `root` from git, including new files that are not ignored. */
export function readRepository(root: string): Repository {
  const files = filesOf(root);
  const read = (file: string) => fs.readFileSync(path.join(root, file), 'utf8');
  const packages = files.filter((file) => path.posix.basename(file) === 'package.json');
  return describeRepository({
    files: [...files, ...generatedFiles],
    texts: new Map(files.filter(isChecked).map((file) => [file, read(file)])),
    npmScripts: new Set(packages.flatMap((file) => readScriptNames(read(file)))),
    topupCommands: topupCommands(),
  });
}

/** @param files All files, including those whose text is not checked. */
export function describeRepository(
  known: Pick<Repository, 'texts' | 'npmScripts' | 'topupCommands'> & { files: readonly string[] },
): Repository {
  const { files, ...rest } = known;
  const documents = [...known.texts].filter(([file]) => file.endsWith('.md'));
  return {
    ...rest,
    paths: new Set(files.flatMap(listParentPaths)),
    anchors: new Map(documents.map(([file, text]) => [file, anchorsOf(text)])),
    headings: new Map(documents.map(([file, text]) => [file, headingsOf(text)])),
    decisions: files.flatMap((file) => /^docs\/decisions\/(\d{3})-/.exec(file)?.[1] ?? []),
  };
}

function filesOf(root: string): string[] {
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const listed = execFileSync('git', options, { cwd: root, encoding: 'utf8', maxBuffer: 64_000_000 });
  // git still lists a deleted file until the deletion is committed.
  return listed.split('\0').filter((file) => file !== '' && fs.existsSync(path.join(root, file)));
}

function isChecked(file: string): boolean {
  return checkedFiles.test(file) && file !== ownTest;
}

function readScriptNames(packageJson: string): string[] {
  const { scripts = {} } = JSON.parse(packageJson) as { scripts?: Record<string, string> };
  return Object.keys(scripts);
}

function listParentPaths(file: string): string[] {
  const parts = file.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
