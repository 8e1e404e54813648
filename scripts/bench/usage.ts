/** All benchmarks: their purpose, and their environment variables with defaults. */
export const benches = {
  purchase: {
    does: 'accepts purchases from many wallets, compared with a bare and a naive server',
    options: 'SECONDS=5 ROUNDS=5 CONNECTIONS=64 ACCOUNTS=10000',
  },
  'hot-wallet': {
    does: 'one wallet and many clients, one web process and four, compared with a naive server',
    options: 'SECONDS=5 ROUNDS=5 CONNECTIONS=64',
  },
  refunds: {
    does: 'refunds one wallet while it buys, by the posting engine and by the whole pipeline',
    options: 'SECONDS=5 ROUNDS=3 CONNECTIONS=16',
  },
  pipeline: {
    does: 'completes and delivers purchases, compared with a bare worker; then at a fixed rate',
    options: 'PURCHASES=2000 ROUNDS=3 CONNECTIONS=64 ACCOUNTS=100 SECONDS=15 RATE=<half of the maximum>',
  },
  report: {
    does: 'a report of a million rows, compared with a raw cursor into a file; memory and event loop',
    options: 'ROWS=1000000 ROUNDS=1',
  },
  history: {
    does: 'pages of a long history, compared with a history of 10,000 purchases',
    options: 'ROWS=1000000 DAYS=30 CALLS=200',
  },
  console: {
    does: "every GET of the operator's console over sixty days of data; plots compared with the journals",
    options: 'PURCHASES=1000000 ACCOUNTS=20000 PRODUCTS=500 PROVIDERS=20 DELIVERIES=200000 CALLS=30',
  },
  'rate-limit': {
    does: 'exact over two processes; cost of a call compared with a bare script in Redis',
    options: 'CALLS=50000 ROUNDS=5 CONNECTIONS=64',
  },
  recovery: {
    does: 'empties Redis under load: how fast the jobs return, compared with addBulk; nothing bought twice',
    options: 'PURCHASES=5000 ACCOUNTS=100 CONNECTIONS=64',
  },
  signals: {
    does: 'cost of metrics and traces per purchase: an upper bound, then one web process with them on and off',
    options: 'PURCHASES=2000 SECONDS=5 ROUNDS=20 CONNECTIONS=16 ACCOUNTS=1000',
  },
  trouble: {
    does: 'a share of the maximum rate while one provider fails, hangs and recovers and workers are killed',
    options:
      'SECONDS=600 SHARE=0.7 ACCOUNTS=100 KILL_EVERY=15 SEED=<random> ONE_WORKER=0 HEAP_MB=<default of Node>',
  },
  statement: {
    does: 'reads and matches a long bank statement with as many pending deposits: seconds and memory',
    options: 'LINES=50000 ROUNDS=5',
  },
  'web-tier': {
    does: 'a call that validates a body and returns it, compared with node:http and plain Express',
    options: 'SECONDS=5 ROUNDS=5 CONNECTIONS=64 ACCOUNTS=1000',
  },
  webhooks: {
    does: 'deliveries per second and per core, compared with the bare HTTP client; the backlog of one receiver',
    options: 'EVENTS=2000 ROUNDS=5 BACKLOG=2000',
  },
} as const satisfies Record<string, { does: string; options: string }>;

export type BenchName = keyof typeof benches;

export function isBench(name: string): name is BenchName {
  return Object.hasOwn(benches, name);
}
