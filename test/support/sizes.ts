/**
 * How large the tests are that have sizes. `npm test` shows each guarantee, `npm run test:long` in larger numbers, and
 * `npm run test:long -- --full` in the numbers that the guarantee is about (TEST_SIZE). Of a file with both kinds of tests
 * those with a size have `@sized` in their titles: the long runs play these alone.
 */
const size = process.env['TEST_SIZE'];

/** @param full as long, where that is all there is to show. */
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
  /** Whether tools of others read the contract: generators of clients, Postman's engine. */
  contractTools: bySize(false, true),
  /** Whether the benchmarks that take a minute each are tried as well. */
  benches: { all: bySize(false, false, true) },
  /** From a fresh copy of the repository, built anew, to a verified webhook. */
  quickStart: { isPlayed: bySize(false, true), limitMs: 300_000 },
  /** Purchases over three sellers of which one goes down, with workers that are killed. */
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
  /** Rounds in which equal calls meet at two web processes. */
  acceptedOnce: bySize(
    { rounds: 12, limitMs: 120_000 },
    { rounds: 40, limitMs: 300_000 },
    { rounds: 100, limitMs: 600_000 },
  ),
  /** Purchases through two web processes and three workers of each kind: by themselves, or all kinds in each of three. */
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
  /** Accounts, of which each has ten receivers of webhooks that are due. */
  sweep: bySize({ accounts: 100, limitMs: 120_000 }, { accounts: 1_000, limitMs: 600_000 }),
  /** Webhook events at a steady rate beside receivers that hang. */
  fairness: bySize(
    { seconds: 5, perTick: 2, limitMs: 120_000 },
    { seconds: 20, perTick: 5, limitMs: 300_000 },
    { seconds: 60, perTick: 5, limitMs: 400_000 },
  ),
  /** Purchases at a steady rate before and while a seller is down, in milliseconds. */
  outage: bySize(
    { normalMs: 5_000, downMs: 12_000, limitMs: 120_000 },
    { normalMs: 5_000, downMs: 30_000, limitMs: 240_000 },
    { normalMs: 5_000, downMs: 60_000, limitMs: 300_000 },
  ),
  /**
   * Rows of one report. The smaller numbers would fit into the bounds of the full one; so there a process that keeps
   * rows finds no room for them.
   */
  report: bySize(
    { rows: 50_000, heap: '--max-old-space-size=64', limitMs: 120_000 },
    { rows: 80_000, heap: '--max-old-space-size=64', limitMs: 600_000 },
    { rows: 1_000_000, heap: '', limitMs: 2_400_000 },
  ),
  /** Purchases that come faster than their provider takes them, some at once, and the longest wait of their product. */
  backlog: bySize(
    { purchases: 120, callsPerSecond: 20, maxWaitS: 2, limitMs: 60_000 },
    { purchases: 350, callsPerSecond: 5, maxWaitS: 30, limitMs: 300_000 },
    { purchases: 700, callsPerSecond: 5, maxWaitS: 60, limitMs: 400_000 },
  ),
  /**
   * Random histories of money for each kind of trouble, of which six are over at once and four take seconds: over 2,000 from
   * test:long on; how many of them a fleet of processes plays at once, and how many fleets there are.
   */
  model: bySize(
    { quick: 8, slow: 8, atOnce: 4, fleets: 1, limitMs: 120_000 },
    { quick: 288, slow: 72, atOnce: 8, fleets: 2, limitMs: 900_000 },
    { quick: 864, slow: 216, atOnce: 4, fleets: 3, limitMs: 3_600_000 },
  ),
  /** Changes of a markup while two processes sell. */
  markupChanges: bySize(20, 40, 100),
  /**
   * Processes that are killed at each of 15 named points of a movement of money, each of them in so many movements at once:
   * over 2,000 from test:long on; and how many processes at once.
   */
  killPoints: bySize(
    { kills: 1, movements: 5, atOnce: 1, limitMs: 240_000 },
    { kills: 6, movements: 24, atOnce: 2, limitMs: 900_000 },
    { kills: 18, movements: 24, atOnce: 2, limitMs: 1_800_000 },
  ),
  /** The same with a whole group of movements in the process. */
  killedGroups: bySize(
    { repeats: 1, movements: 12, atOnce: 1, limitMs: 240_000 },
    { repeats: 1, movements: 60, atOnce: 1, limitMs: 900_000 },
    { repeats: 15, movements: 96, atOnce: 4, limitMs: 1_800_000 },
  ),
  /**
   * Links between processes x faults x moments: all 150, or each fault at each link at every other moment, or each fault and
   * each link once; and how many copies of the service they are played on beside each other.
   */
  faults: bySize(
    { every: 29, stacks: 1, limitMs: 240_000 },
    { every: 2, stacks: 5, limitMs: 1_500_000 },
    { every: 1, stacks: 5, limitMs: 1_500_000 },
  ),
  /** How keys are spread over the nodes of a Redis Cluster. */
  clusters: bySize(
    [{ tag: '', busyNodes: 3 }],
    [
      { tag: '', busyNodes: 3 },
      { tag: '-{one}', busyNodes: 1 },
    ],
  ),
  /** How long Prometheus itself scrapes all processes under load; 0: they are asked by hand alone. */
  scraped: bySize({ forMs: 0, limitMs: 180_000 }, { forMs: 45_000, limitMs: 400_000 }),
  /** Processes that are stopped, and databases that are away, until somebody is told, which takes most of a minute. */
  silence: { isPlayed: bySize(false, true) },
  /** Each page of the console for each role and width; and whether each role has it in each language. */
  everyPage: { isPlayed: bySize(false, true), allLanguages: bySize(false, false, true) },
  /** Requests made of the OpenAPI document. */
  walk: bySize({ requests: 700 }, { requests: 2_000 }, { requests: 10_000 }),
  /** Generated requests against everything that listens. */
  hostileRequests: bySize({ requests: 400 }, { requests: 3_000 }, { requests: 20_000 }),
  /** Rounds of large bodies over every schema. */
  bounds: bySize({ rounds: 1 }, { rounds: 8 }, { rounds: 100 }),
  /** How long a receiver of webhooks may drip. Null: as long as in production. */
  hostileUrls: { deadlineMs: bySize(2_000, null) },
} as const;
