/**
 * `node dist/scripts/bench/main.js <name>`: runs one benchmark or one of its helper processes.
 * Loads only the named module, because each module reads its environment on import.
 */
import { randomBytes } from 'node:crypto';
import { isBench, type BenchName } from './usage.js';

const run: Record<BenchName, () => Promise<void>> = {
  purchase: async () => (await import('./purchase.js')).benchPurchase(),
  'hot-wallet': async () => (await import('./hot-wallet.js')).benchHotWallet(),
  refunds: async () => (await import('./refunds.js')).benchRefunds(),
  pipeline: async () => (await import('./pipeline.js')).benchPipeline(),
  report: async () => (await import('./report.js')).benchReport(),
  history: async () => (await import('./history.js')).benchHistory(),
  console: async () => (await import('./console.js')).benchConsole(),
  'rate-limit': async () => (await import('./rate-limit.js')).benchRateLimit(),
  recovery: async () => (await import('./recovery.js')).benchRecovery(),
  trouble: async () => (await import('./trouble.js')).benchTrouble(),
  signals: async () => (await import('./signals.js')).benchSignals(),
  statement: async () => (await import('./statement.js')).benchStatement(),
  'web-tier': async () => (await import('./web-tier.js')).benchWebTier(),
  webhooks: async () => (await import('./webhooks.js')).benchWebhooks(),
};

const helpers: Record<string, (args: string[]) => Promise<void>> = {
  load: async () => (await import('./processes/load.js')).runLoad(),
  'serve-bare': async (args) => (await import('./processes/bare-server.js')).serveBare(args),
  'serve-naive': async (args) => (await import('./processes/naive-server.js')).serveNaive(args),
  refund: async () => (await import('./processes/refunder.js')).runRefunder(),
  'refund-bare': async (args) => (await import('./processes/bare-refunder.js')).runBareRefunder(args),
  'serve-echo': async (args) => (await import('./processes/echo-server.js')).serveEcho(args),
  'bare-queue': async (args) => (await import('./processes/bare-queue.js')).runBareQueue(args),
  'bare-worker': async (args) => (await import('./processes/bare-worker.js')).runBareWorker(args),
  'report-bare': async () => (await import('./processes/bare-report.js')).runBareReport(),
  limiter: async () => (await import('./processes/limiter.js')).runLimiter(),
  'switching-web': async (args) => (await import('./processes/switching-web.js')).serveSwitchingWeb(args),
  'counting-process': async (args) =>
    (await import('./processes/counting-process.js')).runCountingProcess(args),
  looker: async () => (await import('./processes/looker.js')).runLooker(),
  receiver: async (args) => (await import('./processes/receiver.js')).serveReceiver(args),
};

/**
 * Uses a unique database name and queue prefix, so that a benchmark can share its servers with
 * other data.
 */
function useOwnNames(): void {
  const id = randomBytes(4).toString('hex');
  const uri = new URL(process.env['MONGODB_URI'] ?? '');
  uri.pathname = `/bench_${id}`;
  process.env['MONGODB_URI'] = uri.toString();
  process.env['QUEUE_PREFIX'] = `bench-${id}`;
}

async function main([name = '', ...args]: string[]): Promise<void> {
  const helper = helpers[name];
  if (isBench(name)) {
    useOwnNames();
    await run[name]();
    process.exit();
  } else if (helper) {
    await helper(args);
  } else {
    throw new Error(`There is no benchmark ${name}`);
  }
}

void main(process.argv.slice(2));
