import path from 'node:path';
import { linksOf, wideLinesOf } from './markdown.js';
import type { Repository } from './repository.js';

export interface DeadReference {
  file: string;
  /** Line number, from 1. */
  line: number;
  problem: string;
}

/** Returns the problems of the references in one line of a file. */
type Rule = (text: string, file: string, repository: Repository) => string[];

const rules: Rule[] = [
  deadDocuments,
  deadPaths,
  deadSourceFiles,
  deadSections,
  deadDecisions,
  oldCitations,
  deadNpmScripts,
  deadTopupCommands,
];

/** The changelog uses the names of its time, so only its links are checked. */
const historyFile = 'CHANGELOG.md';

const columnsMax = 100;

/** Returns every dead reference of the repository, by file and line. */
export function deadReferences(repository: Repository): DeadReference[] {
  const files = [...repository.texts].flatMap(([file, text]) => findDeadReferences(file, text, repository));
  return [...files, ...repeatedDecisions(repository)];
}

function findDeadReferences(file: string, text: string, repository: Repository): DeadReference[] {
  const links = file.endsWith('.md') ? deadLinks(file, text, repository) : [];
  if (file === historyFile) {
    return links;
  }
  const found = text.split('\n').flatMap((line, index) => {
    // Link targets have already been checked.
    const words = file.endsWith('.md') ? line.replace(/\]\([^()]*\)/g, ']') : line;
    const problems = rules.flatMap((rule) => rule(words, file, repository));
    return [...new Set(problems)].map((problem) => ({ file, line: index + 1, problem }));
  });
  return [...links, ...found, ...findWideLines(file, text)].sort((a, b) => a.line - b.line);
}

/** Documents wrap at 100 columns (CONTRIBUTING.md, "Writing"). */
function findWideLines(file: string, text: string): DeadReference[] {
  return file.startsWith('docs/') && file.endsWith('.md')
    ? wideLinesOf(text, columnsMax).map((line) => ({
        file,
        line,
        problem: `the line has more than ${columnsMax} columns`,
      }))
    : [];
}

function deadLinks(file: string, text: string, repository: Repository): DeadReference[] {
  return linksOf(text).flatMap(({ line, target }) => {
    const [to = '', anchor] = target.split('#');
    const document = to === '' ? file : path.posix.join(path.posix.dirname(file), to).replace(/\/$/, '');
    if (!repository.paths.has(document)) {
      return [{ file, line, problem: `the link leads to ${document}, which does not exist` }];
    }
    return anchor === undefined || repository.anchors.get(document)?.has(anchor) === true
      ? []
      : [{ file, line, problem: `the link leads to ${document}#${anchor}, and there is no such section` }];
  });
}

/**
 * Finds documents that do not exist. Examples: `docs/explanation/ledger.md`, or only the name for a
 * document in the same folder or in the root.
 */
function deadDocuments(text: string, file: string, repository: Repository): string[] {
  return findCited(text, /(?<![\w./#@<>*{}$-])((?:[\w.-]+\/)*[\w-]+\.md)\b/g).flatMap((name) =>
    placesOf(name, file).some((place) => repository.paths.has(place)) ? [] : [`${name} does not exist`],
  );
}

/**
 * Finds paths that do not exist. Examples: `src/app.ts`, `test/purchases`, `scripts/topup/`. Paths
 * with a placeholder are not checked.
 */
function deadPaths(text: string, file: string, repository: Repository): string[] {
  const pattern = /(?<![\w./@<>*{}$-])((?:src|docs|test|scripts|workers|config|packages)\/[\w./-]*)(.?)/g;
  return [...text.matchAll(pattern)].flatMap(([, written = '', next = '']) => {
    const name = written.replace(/[./-]+$/, '');
    // Documents and decisions have their own rules.
    if ('*<{$('.includes(next || ' ') || name.endsWith('.md') || /^docs\/decisions\/\d{3}$/.test(name)) {
      return [];
    }
    return placesOf(name, file).some((place) => existsIn(place, repository))
      ? []
      : [`${name} does not exist`];
  });
}

/**
 * True if the path exists. Built files are named after their source, such as `scripts/migrate.js`.
 */
function existsIn(place: string, { paths }: Repository): boolean {
  return [place, `${place}.ts`, place.replace(/\.m?js$/, '.ts')].some((each) => paths.has(each));
}

/** Finds source files that do not exist. Examples: `app.ts`, or the end of a longer path. */
function deadSourceFiles(text: string, _file: string, repository: Repository): string[] {
  return findCited(text, /(?<![\w./@<>*{}$'-])((?:[\w-]+\/)*[a-z][\w-]*(?:\.[a-z]+)?\.ts)\b/g).flatMap(
    (name) =>
      [...repository.paths].some((each) => each === name || each.endsWith(`/${name}`))
        ? []
        : [`${name} does not exist`],
  );
}

/**
 * Finds sections that do not exist. Examples: `docs/explanation/ledger.md#rules`, or
 * `docs/explanation/ledger.md, "Rules"`.
 */
function deadSections(text: string, file: string, repository: Repository): string[] {
  const byAnchor = [...text.matchAll(/([\w./-]+\.md)#([\w-]+)/g)].flatMap(([, name = '', anchor = '']) => {
    const document = documentOf(name, file, repository);
    return document === undefined || repository.anchors.get(document)?.has(anchor) === true
      ? []
      : [`${document} has no section #${anchor}`];
  });
  const byTitle = [...text.matchAll(/([\w./-]+\.md), ["“]([^"”]+)["”]/g)].flatMap(
    ([, name = '', title = '']) => {
      const document = documentOf(name, file, repository);
      return document === undefined || repository.headings.get(document)?.includes(title) === true
        ? []
        : [`${document} has no section "${title}"`];
    },
  );
  return [...byAnchor, ...byTitle];
}

/**
 * Finds decisions that do not exist. Examples: `decision 038`, `decisions 038 and 024`,
 * `docs/decisions/038`.
 */
function deadDecisions(text: string, _file: string, repository: Repository): string[] {
  return [...text.matchAll(/\bdecisions?[ /](\d{3}\b(?:(?:, | and |, and )\d{3}\b)*)/gi)]
    .flatMap(([, numbers = '']) => numbers.match(/\d{3}/g) ?? [])
    .filter((number) => !repository.decisions.includes(number))
    .map((number) => `there is no decision ${number}`);
}

/** Finds section numbers of documents that have no numbers, and references to internal tasks. */
function oldCitations(text: string): string[] {
  const documents = 'interface|decisions?|money|webhooks|providers|performance|style|house|posting';
  const section = '\\d{1,2}(?:\\.\\d{1,2})?\\b(?![\\d/])';
  const pattern = new RegExp(
    `\\b((?:${documents})(?:\\.md)? (?:parts? )?${section}|parts? ${section}|issue ["][^"]+["])`,
    'gi',
  );
  return findCited(text, pattern).map((name) => `${name} leads nowhere: name a section, or say why`);
}

function deadNpmScripts(text: string, _file: string, repository: Repository): string[] {
  return findCited(text, /\bnpm run (?:--?[\w-]+ )*([a-z][\w-]*(?::[\w-]+)*)/g)
    .filter((name) => !repository.npmScripts.has(name))
    .map((name) => `there is no npm script ${name}`);
}

/**
 * Finds commands that do not exist. Examples: `topup account create`, `topup account create|list`,
 * `npm run topup -- doctor`.
 */
function deadTopupCommands(text: string, _file: string, repository: Repository): string[] {
  const pattern = /(?:`topup|\bnpm run topup --) ([a-z]+)(?: ([a-z]+(?:\|[a-z]+)*)(?![\w-]))?/g;
  return [...text.matchAll(pattern)].flatMap(([, name = '', subcommands]) => {
    const known = repository.topupCommands.get(name);
    if (known === undefined) {
      return [`there is no command topup ${name}`];
    }
    const named = known.size === 0 ? [] : (subcommands?.split('|') ?? []);
    return named
      .filter((each) => !known.has(each))
      .map((each) => `there is no command topup ${name} ${each}`);
  });
}

/**
 * Finds duplicate decision numbers, because two branches may have added a decision with the same
 * number.
 */
function repeatedDecisions({ decisions }: Repository): DeadReference[] {
  return [...new Set(decisions.filter((number, index) => decisions.indexOf(number) !== index))].map(
    (number) => ({
      file: 'docs/decisions',
      line: 1,
      problem: `there are two decisions ${number}`,
    }),
  );
}

function documentOf(name: string, file: string, { anchors }: Repository): string | undefined {
  return placesOf(name, file).find((place) => anchors.has(place));
}

/**
 * Returns the paths to which a name may refer: relative to the root, to the citing file and to its
 * package.
 */
function placesOf(name: string, file: string): string[] {
  const [top, packageName] = file.split('/');
  const bases = [
    '',
    path.posix.dirname(file),
    ...(top === 'packages' ? [`packages/${packageName ?? ''}`] : []),
  ];
  return bases.map((base) => path.posix.join(base, name));
}

function findCited(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name = '']) => name);
}
