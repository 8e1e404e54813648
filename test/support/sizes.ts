/**
 * The sizes of the sized tests by TEST_SIZE. `npm test` uses small numbers, `npm run test:long`
 * larger ones, and `npm run test:long -- --full` those of the guarantee. In a file with both kinds,
 * sized tests have `@sized` in their titles, and the long runs run only these.
 */
const size = process.env['TEST_SIZE'];

/** Selects a value by TEST_SIZE. @param full Default: the same as `long`. */
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
  /** True if third-party tools read the contract: client generators and Postman's engine. */
  contractTools: bySize(false, true),
  /** True if the benchmarks that take a minute each run too. */
  benches: { all: bySize(false, false, true) },
  /** The quick start: from a fresh copy of the repository and a build to a verified webhook. */
  quickStart: { isPlayed: bySize(false, true), limitMs: 300_000 },
  /** Purchases over three sellers while one is down and workers are killed. */
  storm: bySize(
    { purchases: 200, atOnce: 8, finalDuringOutage: 40, finalBetweenKills: 40, limitMs: 120_000 },
    { purchases: 600, atOnce: 20, finalDuringOutage: 120, finalBetweenKills: 60, limitMs: 900_000 },
    { purchases: 10_000, atOnce: 20, finalDuringOutage: 2_000, finalBetweenKills: 400, limitMs: 1_800_000 },
  ),
  /** Purchases while workers and web are killed and Redis is emptied. */
  crash: bySize(
    { purchases: 250, limitMs: 180_000 },
    { purchases: 500, limitMs: 600_000 },
    { purchases: 5_000, limitMs: 1_800_000 },
  ),
  /** Rounds of equal concurrent calls at two web processes. */
  acceptedOnce: bySize(
    { rounds: 12, limitMs: 120_000 },
    { rounds: 40, limitMs: 300_000 },
    { rounds: 100, limitMs: 600_000 },
  ),
  /**
   * Purchases through two web processes and three workers of each kind. `isApart`: each kind has
   * its own processes.
   */
  manyProcesses: bySize(
    { purchases: 40, isApart: false, limitMs: 120_000 },
    { purchases: 300, isApart: true, limitMs: 600_000 },
    { purchases: 2_000, isApart: true, limitMs: 1_200_000 },
  ),
  /** Webhook events while receivers fail and workers are killed. */
  everyEvent: bySize(
    { events: 500, kills: 3, timeoutMs: 4_000, limitMs: 240_000 },
    { events: 1_200, kills: 5, timeoutMs: 15_000, limitMs: 900_000 },
    { events: 5_000, kills: 15, timeoutMs: 15_000, limitMs: 1_800_000 },
  ),
  /** Accounts with ten due webhook receivers each. */
  sweep: bySize({ accounts: 100, limitMs: 120_000 }, { accounts: 1_000, limitMs: 600_000 }),
  /** Webhook events at a steady rate while other receivers hang. */
  fairness: bySize(
    { seconds: 5, perTick: 2, limitMs: 120_000 },
    { seconds: 20, perTick: 5, limitMs: 300_000 },
    { seconds: 60, perTick: 5, limitMs: 400_000 },
  ),
  /** Milliseconds of purchases at a steady rate before and during a seller's outage. */
  outage: bySize(
    { normalMs: 5_000, downMs: 12_000, limitMs: 120_000 },
    { normalMs: 5_000, downMs: 30_000, limitMs: 240_000 },
    { normalMs: 5_000, downMs: 60_000, limitMs: 300_000 },
  ),
  /**
   * Rows of one report. The small sizes limit the heap, because a process that buffers rows would
   * fit into the bounds of the full size.
   */
  report: bySize(
    { rows: 50_000, heap: '--max-old-space-size=64', limitMs: 120_000 },
    { rows: 80_000, heap: '--max-old-space-size=64', limitMs: 600_000 },
    { rows: 1_000_000, heap: '', limitMs: 2_400_000 },
  ),
  /**
   * Purchases faster than their provider accepts them, calls per second, and the product's longest
   * wait in seconds.
   */
  backlog: bySize(
    { purchases: 120, callsPerSecond: 20, maxWaitS: 2, limitMs: 60_000 },
    { purchases: 350, callsPerSecond: 5, maxWaitS: 30, limitMs: 300_000 },
    { purchases: 700, callsPerSecond: 5, maxWaitS: 60, limitMs: 400_000 },
  ),
  /**
   * Random histories of money per kind of fault: six kinds are quick, four take seconds. test:long
   * runs over 600 with new seeds, `--full` over 6,000. `atOnce`: histories per fleet of processes; `fleets`: number of fleets.
   */
  model: bySize(
    { quick: 8, slow: 8, atOnce: 4, fleets: 1, limitMs: 120_000 },
    { quick: 96, slow: 32, atOnce: 8, fleets: 2, limitMs: 900_000 },
    { quick: 864, slow: 216, atOnce: 4, fleets: 3, limitMs: 3_600_000 },
  ),
  /** Changes of a markup while two processes sell. */
  markupChanges: bySize(20, 40, 100),
  /**
   * Kills of processes at each of 15 named points of a money movement, concurrent movements in
   * each, and concurrent processes. test:long kills in over 1,000 movements, `--full` in over 6,000.
   */
  killPoints: bySize(
    { kills: 1, movements: 5, atOnce: 1, limitMs: 240_000 },
    { kills: 3, movements: 24, atOnce: 2, limitMs: 900_000 },
    { kills: 18, movements: 24, atOnce: 2, limitMs: 1_800_000 },
  ),
  /** As `killPoints`, with a whole group of movements in the process. */
  killedGroups: bySize(
    { repeats: 1, movements: 12, atOnce: 1, limitMs: 240_000 },
    { repeats: 1, movements: 60, atOnce: 1, limitMs: 900_000 },
    { repeats: 15, movements: 96, atOnce: 4, limitMs: 1_800_000 },
  ),
  /**
   * Combinations of links between processes, faults and moments. 1: all 150; 2: each fault at each
   * link at every other moment; 29: each fault and each link once. `stacks`: concurrent copies of
   * the service.
   */
  faults: bySize(
    { every: 29, stacks: 1, limitMs: 240_000 },
    { every: 2, stacks: 5, limitMs: 1_500_000 },
    { every: 1, stacks: 5, limitMs: 1_500_000 },
  ),
  /** Distribution of keys over the nodes of a Redis Cluster. */
  clusters: bySize(
    [{ tag: '', busyNodes: 3 }],
    [
      { tag: '', busyNodes: 3 },
      { tag: '-{one}', busyNodes: 1 },
    ],
  ),
  /**
   * Milliseconds for which Prometheus scrapes all processes under load. 0: the test scrapes them
   * itself.
   */
  scraped: bySize({ forMs: 0, limitMs: 180_000 }, { forMs: 45_000, limitMs: 400_000 }),
  /**
   * Stopped processes and unavailable databases until an alert is sent, which takes most of a
   * minute.
   */
  silence: { isPlayed: bySize(false, true) },
  /**
   * Each page of the console for each role and width. `allLanguages`: each role in each language.
   */
  everyPage: { isPlayed: bySize(false, true), allLanguages: bySize(false, false, true) },
  /** Requests generated from the OpenAPI document. */
  walk: bySize({ requests: 700 }, { requests: 2_000 }, { requests: 10_000 }),
  /** Generated requests against every HTTP route. */
  hostileRequests: bySize({ requests: 400 }, { requests: 3_000 }, { requests: 20_000 }),
  /** Rounds of large bodies over every schema. */
  bounds: bySize({ rounds: 1 }, { rounds: 8 }, { rounds: 100 }),
  /** The limit of a slow webhook receiver in milliseconds. Null: the production value. */
  hostileUrls: { deadlineMs: bySize(2_000, null) },
} as const;
