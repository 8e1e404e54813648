/**
 * Compares the OpenAPI document with the one of the last release (decision 024). The baseline is
 * fixed between releases; scripts/openapi/accepted-breaks.json lists each accepted break with its
 * reason. Before the first release, both files are missing and nothing is compared.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { breakingChanges, type Json } from './breaking-changes.js';
import { stripDescriptions } from './strip-descriptions.js';

interface AcceptedBreak {
  /** The reason why the break is acceptable for clients. */
  reason: string;
  /** Text of the check, without the place in the document. */
  what: string;
  at: string[];
}

/** Content of scripts/openapi/accepted-breaks.json, which is maintained by hand. */
interface Release {
  /** The version in package.json when the baseline was made. */
  release: string;
  /** Digest of the baseline. It reveals manual changes. */
  sha256: string;
  accepted: AcceptedBreak[];
}

/** The folder of the two files. */
export interface BaselineSource {
  /** The current version in package.json. */
  folder: string;
  version: string;
}

/** Returns one line per break that is not accepted. */
export function contractProblems({ folder, version }: BaselineSource, document: Json): string[] {
  const lastRelease = readRelease(folder);
  if (lastRelease === null) {
    return [];
  }
  const { release, sha256, accepted } = lastRelease;
  const baseline = readFileSync(getBaselinePath(folder), 'utf8');
  const breaks = breakingChanges(JSON.parse(baseline) as Json, document);
  const known = accepted.flatMap(({ what, at }) => at.map((place) => `${place}: ${what}`));
  return [
    ...breaks.filter((each) => !known.includes(each)).map((each) => `Breaks clients: ${each}`),
    ...known.filter((each) => !breaks.includes(each)).map((each) => `Accepted, but not a break: ${each}`),
    ...accepted
      .filter(({ reason }) => reason.trim() === '')
      .map(({ what }) => `Accepted without a reason: ${what}`),
    ...(digestOf(baseline) === sha256
      ? []
      : ['The baseline differs from the released one: restore scripts/openapi/baseline.json.']),
    ...(release === version
      ? []
      : [`The baseline belongs to ${release}, but package.json has ${version}: accept a new baseline.`]),
  ];
}

/**
 * Returns why the baseline must not change. Null if it may. It changes only with a new version, and
 * never with an unaccepted break.
 */
export function findAcceptanceProblem(baselineSource: BaselineSource, document: Json): string | null {
  const release = readRelease(baselineSource.folder)?.release;
  if (release === undefined) {
    return null;
  }
  if (release === baselineSource.version) {
    return (
      `The baseline and package.json both have version ${release}: the baseline is frozen until the next version. ` +
      'Give the reason for an intended break in scripts/openapi/accepted-breaks.json.'
    );
  }
  return contractProblems({ ...baselineSource, version: release }, document).at(0) ?? null;
}

/**
 * Makes `document` the baseline for the next releases and clears the accepted breaks.
 * @throws Error if the baseline must not change.
 */
export function acceptRelease(baselineSource: BaselineSource, document: Json): void {
  const why = findAcceptanceProblem(baselineSource, document);
  if (why !== null) {
    throw new Error(why);
  }
  const baseline = `${JSON.stringify(stripDescriptions(document), null, 1)}\n`;
  const next: Release = { release: baselineSource.version, sha256: digestOf(baseline), accepted: [] };
  writeFileSync(getBaselinePath(baselineSource.folder), baseline);
  writeFileSync(getReleasePath(baselineSource.folder), `${JSON.stringify(next, null, 2)}\n`);
}

const getBaselinePath = (folder: string) => join(folder, 'baseline.json');
const getReleasePath = (folder: string) => join(folder, 'accepted-breaks.json');
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** Reads the release of the baseline. Null before the first release. */
function readRelease(folder: string): Release | null {
  const file = getReleasePath(folder);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Release) : null;
}
