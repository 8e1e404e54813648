/**
 * Tables of docs/reference that are generated from code. A page holds each between `<!-- table:
 * <name> -->` and `<!-- /table -->`. `RECORD=1 npm test -- test/docs/reference-tables.test.ts`
 * updates the pages in the repository.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { projectRoot } from '../../config/project-file.js';
import { refusedSettings } from '../../config/refused-settings.js';
import { settingsOfProcesses } from '../../config/settings-of-processes.js';
import { buildSchemaRows } from '../../src/api/docs/schema-rows.js';
import { describedInterface } from '../../src/api/openapi/document.js';
import { isAllowed, operatorRoles, rights, type OperatorAction } from '../../src/operators/rights.js';
import { processTypes } from '../../src/processes.js';
import { figures } from '../../src/signals/figures.js';
import { topupProgram } from '../topup/program.js';

type Row = readonly string[];

export const referenceTables: Record<string, () => string> = {
  alarms: () => buildTable(['Alarm', 'Severity', 'After', 'Meaning'], findAlarms()),
  commands: () => buildTable(['Command', 'What it does'], listCommands(topupProgram(), '')),
  events: () => buildTable(['Event', 'When', 'Fields of `data`'], findEvents()),
  jobs: () => buildTable(['Job', 'Queue', 'Process', 'Version', 'Scheduled every'], findJobs()),
  metrics: () => buildTable(['Metric', 'Labels', 'Meaning'], findMetrics()),
  refused: () =>
    buildTable(
      ['Setting', 'Refused', 'Because', 'Use', 'Accepted as'],
      refusedSettings.map(({ setting, value, why, instead, acceptedAs }) => [
        code(setting),
        value,
        why,
        instead,
        acceptedAs === null ? '' : code(acceptedAs),
      ]),
    ),
  rights: () =>
    buildTable(
      ['Right', ...operatorRoles],
      (Object.keys(rights) as OperatorAction[]).map((action) => [
        rights[action].does,
        ...operatorRoles.map((role) => (isAllowed(role, action) ? 'yes' : '')),
      ]),
    ),
  secrets: () =>
    buildTable(
      ['Process', 'Reads'],
      Object.entries(settingsOfProcesses).map(([name, own]) => [name, own.map(code).join(', ')]),
    ),
  settings: () => buildTable(['Setting', 'Default', 'Meaning'], findSettings()),
};

/** Returns the page with its tables generated from the current code. */
export function insertTables(page: string): string {
  return page.replace(
    /(<!-- table: (\w+) -->\n)[^]*?(<!-- \/table -->)/g,
    (_all, start: string, name: string, end: string) => {
      const build = referenceTables[name];
      if (build === undefined) {
        throw new Error(`There is no table ${name}.`);
      }
      return `${start}${build()}${end}`;
    },
  );
}

const read = (file: string): string => readFileSync(path.join(projectRoot, file), 'utf8');
const code = (text: string): string => `\`${text}\``;

/** Builds a Markdown table. Cells must not contain an unescaped bar, which would end the cell. */
function buildTable(head: Row, rows: readonly Row[]): string {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `${lines.join('\n')}\n`;
}

const escapeBars = (text: string): string => text.replaceAll('|', '\\|');

function findAlarms(): Row[] {
  const pattern =
    /- alert: (\w+)[^]*?severity: (\w+)[^]*?summary: '((?:[^']|'')*)'[^]*?runbook: docs\/(\S+)/g;
  return [...read('ops/prometheus/rules.yml').matchAll(pattern)].map(
    ([rule, name = '', severity = '', summary = '', runbook = '']) => {
      const [, wait = '0s'] = /\n +for: (\w+)/.exec(rule) ?? [];
      const meaning = summary.replaceAll("''", "'").replace(/\{\{ \$labels\.(\w+) \}\}/g, '`$1`');
      return [`[${name}](../${runbook})`, severity, wait, escapeBars(meaning)];
    },
  );
}

function listCommands(parent: Command, before: string): Row[] {
  return parent.commands.flatMap((command) => {
    const name = `${before} ${command.name()}`.trim();
    const values = command.registeredArguments.map((each) => {
      const word = each.variadic ? `${each.name()}...` : each.name();
      return each.required ? ` <${word}>` : ` [${word}]`;
    });
    return command.commands.length > 0
      ? listCommands(command, name)
      : [[code(`${name}${values.join('')}`), escapeBars(command.summary())]];
  });
}

function findEvents(): Row[] {
  return Object.entries(describedInterface().webhooks).flatMap(([event, { post }]) => {
    const schema = post?.requestBody?.content['application/json']?.schema;
    return post && schema
      ? [
          [
            code(event),
            escapeBars(post.summary),
            [...new Set(buildSchemaRows(schema).map(({ name }) => name.replace(/^data\./, '')))]
              .filter((name) => !['event', 'data', 'timestamp'].includes(name))
              .map(code)
              .join(', '),
          ],
        ]
      : [];
  });
}

function findJobs(): Row[] {
  return processTypes.flatMap(({ name: process, handlers }) =>
    handlers.map(({ job: { name, queue, version, clock } }) => [
      code(name),
      code(queue.name),
      process,
      String(version),
      clock ? `${clock.everyMs / 1_000} s` : '',
    ]),
  );
}

/**
 * Finds the metrics in the source text. Relies on name, help and labels being adjacent in each
 * definition.
 */
function findMetrics(): Row[] {
  const ofFigures = Object.entries(figures).map(([name, { help, labels }]) => ({
    name,
    help,
    labels: [...labels],
  }));
  const pattern =
    /name: '(topup_\w+)',\s+help: (?:'([^']*)'|"([^"]*)"),(?:\s+\/\/.*)?\s+labels: \[([^\]]*)\]/g;
  const counted = readdirSync(path.join(projectRoot, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...read(path.join('src', file)).matchAll(pattern)])
    .map(([, name = '', single, double, labels = '']) => ({
      name,
      help: single ?? double ?? '',
      labels: labels.match(/\w+/g) ?? [],
    }));
  return [...counted, ...ofFigures]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, help, labels }) => [code(name), labels.map(code).join(', '), escapeBars(help)]);
}

/** Finds the settings in .env.example, which explains each setting in the comment above it. */
function findSettings(): Row[] {
  const rows: Row[] = [];
  let comment: string[] = [];
  for (const line of read('.env.example').split('\n')) {
    const [, name, value = ''] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined) {
      rows.push([code(name), value === '' ? '' : code(value), escapeBars(comment.join(' '))]);
      comment = [];
    } else {
      comment = line.startsWith('# ') ? [...comment, line.slice(2)] : [];
    }
  }
  return rows;
}
