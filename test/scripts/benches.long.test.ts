import { expect } from 'chai';
import { benches, type BenchName } from '../../scripts/bench/usage.js';
import { runToEnd } from '../support/run-to-end.js';
import { sizes } from '../support/sizes.js';

/**
 * Sizes that are too small for a measurement. Each benchmark must finish, and its ledger must match
 * the responses.
 */
const tinyEnvs: Record<BenchName, Record<string, number>> = {
  purchase: { SECONDS: 1, ROUNDS: 1, CONNECTIONS: 4, ACCOUNTS: 20 },
  'hot-wallet': { SECONDS: 1, ROUNDS: 1, CONNECTIONS: 4 },
  refunds: { SECONDS: 1, ROUNDS: 1, CONNECTIONS: 2 },
  pipeline: { PURCHASES: 40, ROUNDS: 1, CONNECTIONS: 4, ACCOUNTS: 5, SECONDS: 2, RATE: 5 },
  report: { ROWS: 2_000, ROUNDS: 1 },
  history: { ROWS: 12_000, DAYS: 5, CALLS: 5 },
  console: { PURCHASES: 600, ACCOUNTS: 60, PRODUCTS: 10, PROVIDERS: 3, DELIVERIES: 100, CALLS: 2 },
  'rate-limit': { CALLS: 200, ROUNDS: 1, CONNECTIONS: 4 },
  recovery: { PURCHASES: 100, ACCOUNTS: 5, CONNECTIONS: 4 },
  signals: { PURCHASES: 40, SECONDS: 1, ROUNDS: 1, CONNECTIONS: 2, ACCOUNTS: 10 },
  trouble: { SECONDS: 30, SHARE: 0.2, ACCOUNTS: 5, KILL_EVERY: 10, SEED: 1 },
  statement: { LINES: 500, ROUNDS: 1 },
  'web-tier': { SECONDS: 1, ROUNDS: 1, CONNECTIONS: 4, ACCOUNTS: 5 },
  webhooks: { EVENTS: 40, ROUNDS: 1, BACKLOG: 40 },
};

/** Returns whether the benchmark is quick. The others take a minute each and use the same parts. */
function isQuick(name: BenchName): boolean {
  return [
    'refunds',
    'pipeline',
    'report',
    'history',
    'rate-limit',
    'recovery',
    'statement',
    'webhooks',
  ].includes(name);
}

// Let each benchmark start its own databases, as it does in normal use.
const { MONGODB_URI: _mongodb, REDIS_URL: _redis, ...ownEnv } = process.env;

describe('npm run bench', function () {
  this.timeout(240_000);

  for (const name of (Object.keys(benches) as BenchName[]).filter(
    (each) => sizes.benches.all || isQuick(each),
  )) {
    it(`${name} finishes and its books match the responses`, async () => {
      const options = Object.entries(tinyEnvs[name]).map(([key, value]) => [key, String(value)]);
      const printed = await runToEnd('scripts/bench.js', [name], {
        ...ownEnv,
        ...Object.fromEntries(options),
      });
      expect(printed).to.match(/^Measured on: [^\n]*\n.+/ms);
    });
  }
});
