import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { referenceTables, insertTables } from '../../scripts/docs/reference-tables.js';
import { readPages, textOfPages } from '../support/docs-pages.js';

describe('generated tables of docs/reference', () => {
  it('match the code', () => {
    for (const [file, text] of Object.entries(readPages('reference'))) {
      const made = insertTables(text);
      if (process.env['RECORD'] === '1') {
        writeFileSync(file, made);
      } else {
        expect(text, file).to.equal(made);
      }
    }
  });

  it('are all shown', () => {
    const text = textOfPages('reference');
    for (const name of Object.keys(referenceTables)) {
      expect(text).to.include(`<!-- table: ${name} -->`);
    }
  });

  it('name every alarm, and every metric of a rule or dashboard', () => {
    const rules = readFileSync('ops/prometheus/rules.yml', 'utf8');
    const alarms = referenceTables['alarms']?.() ?? '';
    for (const [, name = ''] of rules.matchAll(/- alert: (\w+)/g)) {
      expect(alarms).to.match(new RegExp(`^\\| \\[${name}\\]`, 'm'));
    }
    const metrics = referenceTables['metrics']?.() ?? '';
    const dashboards = readdirSync('ops/grafana').map((file) => readFileSync(`ops/grafana/${file}`, 'utf8'));
    for (const [name] of [rules, ...dashboards].join('\n').matchAll(/\btopup_[a-z0-9_]+\b/g)) {
      expect(metrics).to.include(`\`${name.replace(/_(?:bucket|sum|count)$/, '')}\``);
    }
  });
});
