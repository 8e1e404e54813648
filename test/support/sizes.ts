/**
 * Sizes of the sized tests by TEST_SIZE. `npm test` uses small sizes, `npm run test:long` larger
 * ones, and `npm run test:long -- --full` the sizes of the guarantee. If a file also has other
 * tests, the sized ones have `@sized` in their titles. The long runs execute only those.
 */
const size = process.env['TEST_SIZE'];

/**
 * Returns the value for the current TEST_SIZE.
 * @param full The value for the full size. Default: the same as `long`.
 */
function bySize<const Normal, const Long, const Full = Long>(
  normal: Normal,
  long: Long,
  full?: Full,
): Normal | Long | Full {
  if (size === 'full') {
    return full ?? long;
  }
  return size === 'long' ? long : normal;
}

export const sizes = {
  /** True to let third-party tools read the contract (client generators and Postman's engine). */
  contractTools: bySize(false, true),
  /** True to run also the benchmarks that take a minute each. */
  benches: { all: bySize(false, false, true) },
  /** The quick start, from a fresh copy of the repository through a build to a verified webhook. */
  quickStart: { isPlayed: bySize(false, true), limitMs: 300_000 },
  /** Purchases at three sellers, while one seller is down and workers are killed. */
  storm: bySize(
    { purchases: 200, atOnce: 8, finalDuringOutage: 40, finalBetweenKills: 40, limitMs: 120_000 },
    { purchases: 400, atOnce: 20, finalDuringOutage: 80, finalBetweenKills: 40, limitMs: 900_000 },
    { purchases: 10_000, atOnce: 20, finalDuringOutage: 2_000, finalBetweenKills: 400, limitMs: 1_800_000 },
  ),
  /** Purchases while workers and web processes are killed and Redis is emptied. */
  crash: bySize(
    { purchases: 250, limitMs: 180_000 },
    { purchases: 500, limitMs: 600_000 },
    { purchases: 5_000, limitMs: 1_800_000 },
  ),
  /** Number of rounds with identical concurrent calls at two web processes. */
  acceptedOnce: bySize(
    { rounds: 6, limitMs: 120_000 },
    { rounds: 40, limitMs: 300_000 },
    { rounds: 100, limitMs: 600_000 },
  ),
  /**
   * Purchases through two web processes and three workers of each kind. If `isApart` is true, each
   * kind of work has its own processes.
   */
  manyProcesses: bySize(
    { purchases: 40, isApart: false, limitMs: 120_000 },
    { purchases: 300, isApart: true, limitMs: 600_000 },
    { purchases: 2_000, isApart: true, limitMs: 1_200_000 },
  ),
  /** Number of webhook events while receivers fail and workers are killed. */
  everyEvent: bySize(
    { events: 500, kills: 3, timeoutMs: 4_000, limitMs: 240_000 },
    { events: 1_200, kills: 5, timeoutMs: 15_000, limitMs: 900_000 },
    { events: 5_000, kills: 15, timeoutMs: 15_000, limitMs: 1_800_000 },
  ),
  /** Accounts with ten due webhook receivers each. */
  sweep: bySize({ accounts: 100, limitMs: 120_000 }, { accounts: 1_000, limitMs: 600_000 }),
  /** Webhook events at a steady rate to healthy receivers, while other receivers hang. */
  fairness: bySize(
    { seconds: 5, perTick: 2, limitMs: 120_000 },
    { seconds: 20, perTick: 5, limitMs: 300_000 },
    { seconds: 60, perTick: 5, limitMs: 400_000 },
  ),
  /**
   * Duration of purchases at a steady rate before (`normalMs`) and during (`downMs`) a seller's
   * outage.
   */
  outage: bySize(
    { normalMs: 5_000, downMs: 12_000, limitMs: 120_000 },
    { normalMs: 5_000, downMs: 30_000, limitMs: 240_000 },
    { normalMs: 5_000, downMs: 60_000, limitMs: 300_000 },
  ),
  /**
   * Number of rows in one report. The smaller sizes limit the heap. Otherwise a process that
   * buffers all rows would stay within the memory limits of the full size.
   */
  report: bySize(
    { rows: 50_000, heap: '--max-old-space-size=64', limitMs: 120_000 },
    { rows: 80_000, heap: '--max-old-space-size=64', limitMs: 600_000 },
    { rows: 1_000_000, heap: '', limitMs: 2_400_000 },
  ),
  /**
   * `purchases` exceed the rate that the provider accepts, which is `callsPerSecond`. `maxWaitS` is
   * the product's maximum wait in seconds.
   */
  backlog: bySize(
    { purchases: 120, callsPerSecond: 20, maxWaitS: 2, limitMs: 60_000 },
    { purchases: 350, callsPerSecond: 5, maxWaitS: 30, limitMs: 300_000 },
    { purchases: 700, callsPerSecond: 5, maxWaitS: 60, limitMs: 400_000 },
  ),
  /**
   * Random histories of money movements. `quick` and `slow` are their numbers per kind of fault:
   * six kinds are quick, and four take seconds. `atOnce` histories run in each of `fleets` groups
   * of processes. test:long runs over 300 histories with new seeds, and `--full` over 6,000.
   */
  model: bySize(
    { quick: 4, slow: 4, atOnce: 4, fleets: 1, limitMs: 120_000 },
    { quick: 48, slow: 16, atOnce: 8, fleets: 2, limitMs: 900_000 },
    { quick: 864, slow: 216, atOnce: 4, fleets: 3, limitMs: 3_600_000 },
  ),
  /** Number of changes of a markup while two processes sell. */
  markupChanges: bySize(20, 40, 100),
  /**
   * Kills at each of 15 named points of a money movement. `movements` run concurrently in the
   * killed process, and `atOnce` processes run concurrently. test:long kills over 700 movements,
   * and `--full` over 6,000.
   */
  killPoints: bySize(
    { kills: 1, movements: 5, atOnce: 1, limitMs: 240_000 },
    { kills: 2, movements: 24, atOnce: 2, limitMs: 900_000 },
    { kills: 18, movements: 24, atOnce: 2, limitMs: 1_800_000 },
  ),
  /** Like `killPoints`, but the process is killed during a whole group of movements. */
  killedGroups: bySize(
    { repeats: 1, movements: 12, atOnce: 1, limitMs: 240_000 },
    { repeats: 1, movements: 60, atOnce: 1, limitMs: 900_000 },
    { repeats: 15, movements: 96, atOnce: 4, limitMs: 1_800_000 },
  ),
  /**
   * The step by which combinations of link, fault and stage are selected. 1 selects all 150. 2
   * selects each fault on each link at every other stage. 29 selects each link once and each fault
   * at least once. `stacks` is the number of concurrent copies of the service.
   */
  faults: bySize(
    { every: 29, stacks: 1, limitMs: 240_000 },
    { every: 2, stacks: 5, limitMs: 1_500_000 },
    { every: 1, stacks: 5, limitMs: 1_500_000 },
  ),
  /** Seconds by which the clock of Redis is set, one after another. */
  clockSteps: bySize(
    { stepsS: [-3_600, 600], limitMs: 240_000 },
    { stepsS: [-3_600, 600, -600, 3_600], limitMs: 400_000 },
  ),
  /**
   * The hash tags for a Redis Cluster of three nodes, and the number of nodes that must hold keys.
   */
  clusters: bySize(
    [{ tag: '', busyNodes: 3 }],
    [
      { tag: '', busyNodes: 3 },
      { tag: '-{one}', busyNodes: 1 },
    ],
  ),
  /**
   * Milliseconds for which Prometheus scrapes all processes under load. 0 means that the test
   * itself scrapes them.
   */
  scraped: bySize({ forMs: 0, limitMs: 180_000 }, { forMs: 45_000, limitMs: 400_000 }),
  /**
   * True to suspend processes and stop databases until an alert is sent, which takes most of a
   * minute.
   */
  silence: { isPlayed: bySize(false, true) },
  /**
   * True to open each page of the console for each role and width. If `allLanguages` is true, each
   * role is tested in each language.
   */
  everyPage: { isPlayed: bySize(false, true), allLanguages: bySize(false, false, true) },
  /** Number of requests generated from the OpenAPI document. */
  walk: bySize({ requests: 700 }, { requests: 2_000 }, { requests: 10_000 }),
  /** Number of generated requests, spread over all HTTP routes. */
  hostileRequests: bySize({ requests: 400 }, { requests: 3_000 }, { requests: 20_000 }),
  /** Number of rounds with large bodies for every schema. */
  bounds: bySize({ rounds: 1 }, { rounds: 8 }, { rounds: 100 }),
  /** Number of bank statements with damaged structure. */
  bankStatementMutations: bySize(
    { rounds: 2_000, limitMs: 60_000 },
    { rounds: 20_000, limitMs: 200_000 },
    { rounds: 100_000, limitMs: 900_000 },
  ),
  /** Number of mutated records of providers. */
  recordMutations: bySize(100, 3_000, 30_000),
  /** Time limit for a slow webhook receiver in milliseconds. Null means the production value. */
  hostileUrls: { deadlineMs: bySize(2_000, null) },
} as const;
