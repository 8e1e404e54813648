/** All benchmarks: their purpose, and their environment variables with defaults. */
export const benches = {
  purchase: {
    does: 'accepting purchases of many wallets, beside a bare and a naive server',
    options: 'SECONDS=5 ROUNDS=5 CONNECTIONS=64 ACCOUNTS=10000',
  },
  'hot-wallet': {
    does: 'one wallet and many clients, in one web process and in four, beside a naive server',
    options: 'SECONDS=5 ROUNDS=5 CONNECTIONS=64',
  },
  refunds: {
    does: 'refunds of one wallet while it buys: by the posting engine, and by the whole pipeline',
    options: 'SECONDS=5 ROUNDS=3 CONNECTIONS=16',
  },
  pipeline: {
    does: 'purchases completed and delivered by all processes, beside a bare worker; then at a fixed rate',
    options: 'PURCHASES=2000 ROUNDS=3 CONNECTIONS=64 ACCOUNTS=100 SECONDS=15 RATE=<half of what is reached>',
  },
  report: {
    does: 'a report over a million rows, beside a raw cursor into a file; its memory and event loop',
    options: 'ROWS=1000000 ROUNDS=1',
  },
  history: {
    does: 'pages of a long history beside those of one of 10,000 purchases',
    options: 'ROWS=1000000 DAYS=30 CALLS=200',
  },
  console: {
    does: "every GET of the operator's console over sixty days of a business; its plots beside the journals",
    options: 'PURCHASES=1000000 ACCOUNTS=20000 PRODUCTS=500 PROVIDERS=20 DELIVERIES=200000 CALLS=30',
  },
  'rate-limit': {
    does: 'exact over two processes; what a call costs beside a bare script in Redis',
    options: 'CALLS=50000 ROUNDS=5 CONNECTIONS=64',
  },
  recovery: {
    does: 'Redis emptied under load: how fast all jobs come back, beside addBulk, and nothing bought twice',
    options: 'PURCHASES=5000 ACCOUNTS=100 CONNECTIONS=64',
  },
  signals: {
    does: 'what metrics and traces cost a purchase: at most, by their parts; the web process switched on and off',
    options: 'PURCHASES=2000 SECONDS=5 ROUNDS=20 CONNECTIONS=16 ACCOUNTS=1000',
  },
  trouble: {
    does: 'a share of what is reached, while one provider dies, hangs and comes back and workers are killed',
    options:
      'SECONDS=600 SHARE=0.7 ACCOUNTS=100 KILL_EVERY=15 SEED=<random> ONE_WORKER=0 HEAP_MB=<as Node takes it>',
  },
  'web-tier': {
    does: 'a call that checks a body and gives it back, beside node:http and Express as they come',
    options: 'SECONDS=5 ROUNDS=5 CONNECTIONS=64 ACCOUNTS=1000',
  },
  webhooks: {
    does: 'deliveries per second and per core, beside the bare HTTP client; the backlog of one receiver',
    options: 'EVENTS=2000 ROUNDS=5 BACKLOG=2000',
  },
} as const satisfies Record<string, { does: string; options: string }>;

export type BenchName = keyof typeof benches;

export function isBench(name: string): name is BenchName {
  return Object.hasOwn(benches, name);
}
