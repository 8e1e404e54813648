/** Rules and dashboards name only what the processes tell, each alert is tested, and each has its lines in the runbook. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { request } from 'undici';
import { freePort } from '../../scripts/databases/ports.js';
import { anchorsOf } from '../../scripts/references/markdown.js';
import { processTypes } from '../../src/processes.js';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { noonZone } from '../support/noon-zone.js';
import { startOf } from '../support/start-command.js';
import { buyUntilAnswered, inParallel } from '../support/purchases.js';
import { scrape, signalsOf } from '../support/scrape.js';
import { sizes } from '../support/sizes.js';
import { startStack, type Stack } from '../support/stack.js';

const rules = readFileSync('ops/prometheus/rules.yml', 'utf8');
const tests = readFileSync('ops/prometheus/tests.yml', 'utf8');
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
const dashboards = readdirSync('ops/grafana').map((file) => readFileSync(`ops/grafana/${file}`, 'utf8'));
const series = [
  ...new Set(
    [rules, ...dashboards].flatMap((text) =>
      [...text.matchAll(/\b(?:topup|nodejs|process)_[a-z0-9_]+\b/g)].map(([name]) => name),
    ),
  ),
];
const { forMs, limitMs } = sizes.scraped;

describe('the alerts', () => {
  it('have a case each that shows that they fire and that they stop', () => {
    expect(alerts).to.have.length.greaterThan(20);
    const cases = tests.split(/^ {2}- name: /m).slice(1);
    expect(cases.map((text) => text.split('\n', 1)[0])).to.have.members(alerts);
    for (const text of cases) {
      expect(text.match(/exp_alerts:\n/g), text).to.have.length(1);
      expect(text.match(/exp_alerts: \[\]/g), text).to.have.length(1);
    }
  });

  it('have their lines in docs/operations.md, where their runbook leads', () => {
    const text = readFileSync('docs/operations.md', 'utf8');
    const anchors = anchorsOf(text);
    for (const alert of alerts) {
      expect(rules).to.include(`runbook: docs/operations.md#${alert.toLowerCase()}`);
      expect(anchors).to.include(alert.toLowerCase());
    }
    const described = [...text.matchAll(/^### (Topup\w+)$/gm)].map(([, name]) => name);
    expect(described).to.have.members(alerts);
  });
});

describe('every process under load', function () {
  this.timeout(limitMs);
  let stack: Stack;
  let targets: string[];

  before(async () => {
    stack = await startStack({
      web: false,
      env: { METRICS_PORT: '0', LOG_LEVEL: 'info', BUSINESS_TIMEZONE: noonZone() },
    });
    const accounts = await stack.seed();
    const [web, ...workers] = await Promise.all([
      stack.startWeb(),
      ...processTypes.map(({ name }) => stack.startWorker(name)),
    ]);
    targets = await Promise.all([web, ...workers].map(signalsOf));
    const key = accounts['buyer']?.api_key ?? '';
    await apiClient(web.url, key).post('/api/buyer/deposit', { amount: 500_000_000, ref_id: uniqueRef() });
    load = async (purchases) =>
      inParallel([...Array(purchases).keys()], 4, async () => {
        await buyUntilAnswered({ key, number: '081234561230' }, () => web.url);
      });
  });
  after(() => stack.stop());
  let load: (purchases: number) => Promise<void>;

  it('tells each series that a rule or a dashboard names', async () => {
    await load(20);
    await eventually(
      'every series',
      async () => {
        const told = new Set((await Promise.all(targets.map(scrape))).flat().map(({ name }) => name));
        const missing = series.filter((name) => !told.has(name));
        if (missing.length > 0) {
          throw new Error(`missing: ${missing.join(', ')}`);
        }
        return true;
      },
      90_000,
    );
  });

  it('is scraped by Prometheus itself, which finds each of them and can evaluate each rule', async function () {
    if (forMs === 0 || spawnSync('prometheus', ['--version']).status !== 0) {
      this.skip();
    }
    const folder = await mkdtemp(path.join(tmpdir(), 'topup-prometheus-'));
    const port = await freePort();
    const config = {
      global: { scrape_interval: '5s', evaluation_interval: '5s' },
      rule_files: [path.resolve('ops/prometheus/rules.yml')],
      scrape_configs: [
        { job_name: 'topup', static_configs: [{ targets: targets.map((url) => new URL(url).host) }] },
      ],
    };
    // YAML is a superset of JSON.
    await writeFile(path.join(folder, 'prometheus.yml'), JSON.stringify(config));
    const prometheus = startOf('prometheus', [
      `--config.file=${path.join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${path.join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]);
    const ask = async (query: string): Promise<never[]> => {
      const { body } = await request(`http://127.0.0.1:${port}/api/v1/${query}`);
      return ((await body.json()) as { data: never[] }).data;
    };
    try {
      const endMs = performance.now() + forMs;
      while (performance.now() < endMs) {
        await load(10);
      }
      await eventually('each series', async () => {
        for (const name of series) {
          expect(await ask(`series?match[]=${name}`), name).not.to.deep.equal([]);
        }
        return true;
      });
      const { groups } = (await ask('rules')) as unknown as {
        groups: { rules: { name: string; health: string; state: string }[] }[];
      };
      const evaluated = groups.flatMap((group) => group.rules);
      expect(evaluated.map(({ name }) => name)).to.have.members(alerts);
      expect(evaluated.filter(({ health }) => health !== 'ok')).to.deep.equal([]);
      const down = evaluated.filter(
        ({ name, state }) => /Down|NotReady|Missing/.test(name) && state === 'firing',
      );
      expect(down).to.deep.equal([]);
    } finally {
      await prometheus.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
