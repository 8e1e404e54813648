/** The changed files and the number of a CI run, from git. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/**
 * Commits within this time, in milliseconds, count as one change. Commits that are pushed together
 * have one CI run, which sees only the last commit.
 */
const sittingMs = 6 * 3_600_000;

export interface Changes {
  files: string[];
  /** Describes how the files were found and what is unknown. */
  description: string;
}

/** @param base The commit before the change, if known (TEST_BASE). */
export function changedFiles(root: string, base = ''): Changes {
  try {
    // In a shallow clone the oldest commit appears to change every file.
    const cut = shallowCommits(root);
    const hasBase = isKnown(root, base);
    const committed = hasBase
      ? git(root, 'diff', '--name-only', `${base}...HEAD`)
      : git(
          root,
          'log',
          `--since=${startOfSitting(root)}`,
          '--name-only',
          '--format=',
          'HEAD',
          '--not',
          ...cut,
        );
    const files = new Set([...linesOf(committed), ...findUncommitted(root)]);
    const notes = [
      hasBase ? `since ${base}` : 'in the six hours before the last commit',
      ...(base !== '' && !hasBase ? [`TEST_BASE ${base} is not in this clone`] : []),
      ...(cut.length > 0 ? ['this clone is shallow and lacks earlier commits'] : []),
    ];
    return { files: [...files].sort(), description: notes.join('; ') };
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return { files: [], description: `unknown, because git failed: ${reason}` };
  }
}

/**
 * Returns consecutive numbers for consecutive runs: LONG_ROUND, GitHub's run number, or the number
 * of commits.
 */
export function roundNumber(root: string, env: NodeJS.ProcessEnv): number {
  const rawNumber = env['LONG_ROUND'] || env['GITHUB_RUN_NUMBER'];
  if (rawNumber !== undefined && /^\d+$/.test(rawNumber)) {
    return Number(rawNumber);
  }
  try {
    // A shallow clone has a constant number of commits, but its commit time changes.
    return Number(
      shallowCommits(root).length > 0
        ? git(root, 'log', '-1', '--format=%ct')
        : git(root, 'rev-list', '--count', 'HEAD'),
    );
  } catch {
    return 0;
  }
}

function isKnown(root: string, commit: string): boolean {
  try {
    return commit !== '' && git(root, 'merge-base', commit, 'HEAD') !== '';
  } catch {
    return false;
  }
}

function startOfSitting(root: string): string {
  const lastMs = Number(git(root, 'log', '-1', '--format=%ct')) * 1_000;
  return new Date(lastMs - sittingMs).toISOString();
}

function findUncommitted(root: string): string[] {
  return [
    ...linesOf(git(root, 'diff', '--name-only', 'HEAD')),
    ...linesOf(git(root, 'ls-files', '--others', '--exclude-standard')),
  ];
}

function shallowCommits(root: string): string[] {
  const file = path.resolve(root, git(root, 'rev-parse', '--git-path', 'shallow').trim());
  return fs.existsSync(file) ? linesOf(fs.readFileSync(file, 'utf8')) : [];
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe', maxBuffer: 64_000_000 });
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
