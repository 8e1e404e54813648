/**
 * Rules and dashboards use only metrics that exist. Each alert has a test and a runbook section.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { request } from 'undici';
import { findFreePort } from '../../scripts/databases/ports.js';
import { anchorsOf } from '../../scripts/references/markdown.js';
import { processTypes } from '../../src/processes.js';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { findNoonZone } from '../support/noon-zone.js';
import { startCommand } from '../support/start-command.js';
import type { RunningProgram } from '../support/start-program.js';
import { buyUntilAnswered, inParallel } from '../support/purchases.js';
import { scrape, getMetricsUrl } from '../support/scrape.js';
import { sizes } from '../support/sizes.js';
import { readPages } from '../support/docs-pages.js';
import { startStack, type Stack } from '../support/stack.js';
import { requireTool } from '../support/require-tool.js';

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

describe('Prometheus alerts', () => {
  it('have a test case each that shows that they fire and stop', () => {
    expect(alerts).to.have.length.greaterThan(20);
    const all = tests.split(/^ {2}- name: /m).slice(1);
    // The other tests show that one bad event in a quiet hour does not trigger the alert.
    const cases = all.filter((text) => !text.startsWith('one bad event in a quiet hour is no '));
    expect(all.length - cases.length).to.equal(6);
    expect(cases.map((text) => text.split('\n', 1)[0])).to.have.members(alerts);
    for (const text of cases) {
      expect(text.match(/exp_alerts:\n/g), text).to.have.length(1);
      expect(text.match(/exp_alerts: \[\]/g), text).to.have.length(1);
    }
  });

  it('have a section in docs/guides/alarms, where their runbook link points', () => {
    const pages = Object.entries(readPages('guides/alarms'));
    for (const alert of alerts) {
      const anchor = alert.toLowerCase();
      const [file] = pages.find(([, text]) => anchorsOf(text).has(anchor)) ?? ['no page'];
      expect(rules).to.include(`runbook: ${file}#${anchor}\n`);
    }
    const text = pages.map(([, each]) => each).join('\n');
    const described = [...text.matchAll(/^## (Topup\w+)$/gm)].map(([, name]) => name);
    expect(described).to.have.members(alerts);
    for (const section of text.split(/^(?=#{1,2} )/m).filter((each) => each.startsWith('## Topup'))) {
      expect(section, 'meaning, Check, Do and Do not').to.match(
        /^## \w+\n\n[^-\n].+\n[^]*\n- \*\*Check\*\*: .+\n[^]*- \*\*Do\*\*: .+\n[^]*- \*\*Do not\*\*: ./,
      );
    }
  });
});

describe('metrics of all processes under load', function () {
  this.timeout(limitMs);
  let stack: Stack;
  let targets: string[];
  let key: string;
  let url: string;
  let workers: RunningProgram[];
  let followUp: RunningProgram;

  before(async () => {
    stack = await startStack({
      web: false,
      env: { METRICS_PORT: '0', LOG_LEVEL: 'info', BUSINESS_TIMEZONE: findNoonZone() },
    });
    const accounts = await stack.seed();
    const [web, ...others] = await Promise.all([
      stack.startWeb(),
      ...processTypes.map(({ name }) => stack.startWorker(name)),
    ]);
    workers = others;
    targets = await Promise.all([web, ...workers].map(getMetricsUrl));
    followUp = workerOf('follow-up');
    url = web.url;
    key = accounts['buyer']?.api_key ?? '';
    await apiClient(web.url, key).post('/api/buyer/deposit', { amount: 500_000_000, ref_id: uniqueRef() });
    load = async (purchases) =>
      inParallel([...Array(purchases).keys()], 4, async () => {
        await buyUntilAnswered({ key, number: '081234561230' }, () => web.url);
      });
  });
  after(() => stack.stop());
  const workerOf = (wanted: string): RunningProgram => {
    const found = workers[processTypes.findIndex(({ name }) => name === wanted)];
    if (found === undefined) {
      throw new Error(`no ${wanted}`);
    }
    return found;
  };
  let load: (purchases: number) => Promise<void>;

  it('include each series that a rule or dashboard names', async () => {
    await load(20);
    await eventually(
      'every series is scraped',
      async () => {
        const scraped = new Set((await Promise.all(targets.map(scrape))).flat().map(({ name }) => name));
        const missing = series.filter((name) => !scraped.has(name));
        if (missing.length > 0) {
          throw new Error(`missing: ${missing.join(', ')}`);
        }
        return true;
      },
      90_000,
    );
  });

  it('are scraped by Prometheus, which evaluates each rule @sized', async function () {
    if (forMs === 0) {
      this.skip();
    }
    requireTool(this, 'prometheus');
    const { ask, stopped } = await startPrometheus(targets, rules);
    try {
      const endMs = performance.now() + forMs;
      while (performance.now() < endMs) {
        await load(10);
      }
      await eventually('Prometheus has each series', async () => {
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
      await stopped();
    }
  });

  it('fire the alerts that only Prometheus can detect @sized', async function () {
    if (forMs === 0) {
      this.skip();
    }
    requireTool(this, 'prometheus');
    const { ask, stopped } = await startPrometheus(targets, shortenDurations(rules));
    const statesOf = async (name: string): Promise<string[]> => {
      const { alerts: found } = (await ask('alerts')) as unknown as {
        alerts: { labels: { alertname: string }; state: string }[];
      };
      return found.filter(({ labels }) => labels.alertname === name).map(({ state }) => state);
    };
    const toBe = (name: string, states: string[], withinMs = 60_000) =>
      eventually(
        `${name} is ${states.join()}`,
        async () => JSON.stringify(await statesOf(name)) === JSON.stringify(states),
        withinMs,
      );
    const slow = ['PurchasesSlow', 'WebhooksSlow'].flatMap((name) => [
      `Topup${name}Fast`,
      `Topup${name}Slow`,
    ]);
    /** Suspends both workers, so that six purchases and their events wait for over a minute. */
    const standStill = async () => {
      const api = apiClient(url, key);
      await api.post('/api/buyer/api/config', { webhook_url: `${stack.inbox.url}/hooks/late` });
      const [webhooks, fulfilment] = [workerOf('webhooks'), workerOf('fulfilment')];
      const deliveries = stack.db.collection('deliveries');
      webhooks.process.kill('SIGSTOP');
      fulfilment.process.kill('SIGSTOP');
      const ids: string[] = [];
      for (let count = 0; count < 6; count++) {
        ids.push(await buyUntilAnswered({ key, number: '081234561230' }, () => url));
      }
      // The sweep creates the events now. They are overdue from this moment.
      await eventually(
        'the events are due',
        async () => (await deliveries.countDocuments({ event: 'transaction.pending', state: 'due' })) === 6,
      );
      const sinceMs = performance.now();
      expect((await Promise.all(slow.map(statesOf))).flat()).to.deep.equal([]);
      await eventually('over a minute', () => Promise.resolve(performance.now() - sinceMs > 62_000), 70_000);
      webhooks.process.kill('SIGCONT');
      // Wait until the pending events are delivered. The final events would otherwise replace them.
      for (const id of ids) {
        await stack.inbox.waitFor(({ raw }) => raw.includes(id), 60_000);
      }
      fulfilment.process.kill('SIGCONT');
    };
    const listed = async (wanted: number) => {
      const { statusCode, body } = await request(`${url}/api/buyer/deposits`, {
        headers: { authorization: `Bearer ${key}` },
      });
      await body.dump();
      expect(statusCode).to.equal(wanted);
    };
    try {
      await eventually('each target is scraped', async () => {
        const { result } = (await ask('query?query=sum(up)')) as unknown as {
          result: { value: [number, string] }[];
        };
        return result[0]?.value[1] === String(targets.length);
      });
      await toBe('TopupFiguresMissing', []);
      expect(await statesOf('TopupProcessDown')).to.deep.equal([]);
      // Kill the only follow-up process. It cannot report its own absence.
      await followUp.stop('SIGKILL');
      await Promise.all(
        ['TopupProcessDown', 'TopupFiguresMissing'].map(async (name) => {
          await toBe(name, ['pending']);
          await toBe(name, ['firing']);
        }),
      );
      stack.env['METRICS_PORT'] = new URL(await getMetricsUrl(followUp)).port;
      await stack.startWorker('follow-up');
      await Promise.all(['TopupProcessDown', 'TopupFiguresMissing'].map((name) => toBe(name, [])));

      await standStill();
      await Promise.all(slow.map((name) => toBe(name, ['firing'], 180_000)));

      await listed(200);
      expect(await statesOf('TopupAvailabilityBurnsFast')).to.deep.equal([]);
      // Without createdAt, the API fails on the deposit.
      await stack.db.collection('deposits').updateOne({}, { $unset: { createdAt: 1 } });
      await eventually(
        'both alerts of failed calls fire',
        async () => {
          await listed(500);
          const states = await Promise.all(
            ['TopupAvailabilityBurnsFast', 'TopupAvailabilityBurnsSlow'].map(statesOf),
          );
          return states.flat().join() === 'firing,firing';
        },
        180_000,
      );
    } finally {
      await stopped();
    }
  });
});

/** Divides the waiting time of each rule by twelve, so that a minute becomes five seconds. */
function shortenDurations(text: string): string {
  const seconds = { s: 1, m: 60, h: 3_600 };
  return text.replace(
    /^( +for: )(\d+)([smh])$/gm,
    (_all, before: string, count: string, unit: 's' | 'm' | 'h') =>
      `${before}${Math.ceil((Number(count) * seconds[unit]) / 12)}s`,
  );
}

/** Starts Prometheus with these rules. It scrapes every five seconds. */
async function startPrometheus(targets: string[], rulesText: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'topup-prometheus-'));
  const port = await findFreePort();
  const config = {
    global: { scrape_interval: '5s', evaluation_interval: '5s' },
    rule_files: [path.join(folder, 'rules.yml')],
    scrape_configs: [
      { job_name: 'topup', static_configs: [{ targets: targets.map((url) => new URL(url).host) }] },
    ],
  };
  await writeFile(path.join(folder, 'rules.yml'), rulesText);
  // YAML is a superset of JSON.
  await writeFile(path.join(folder, 'prometheus.yml'), JSON.stringify(config));
  const prometheus = startCommand('prometheus', [
    `--config.file=${path.join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${path.join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  return {
    ask: async (query: string): Promise<never[]> => {
      const { body } = await request(`http://127.0.0.1:${port}/api/v1/${query}`);
      return ((await body.json()) as { data: never[] }).data;
    },
    stopped: async (): Promise<void> => {
      await prometheus.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
