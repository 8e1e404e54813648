/**
 * How large the tests are that have two sizes: the normal one shows each guarantee in `npm test`, the long one
 * (`npm run test:long`, LONG_TESTS=1) in the numbers that the guarantee is about.
 */
const isLong = process.env['LONG_TESTS'] === '1';

export const sizes = {
  /** Whether tools of others read the contract: generators of clients, Postman's engine. */
  contractTools: isLong,
  /** From a fresh copy of the repository, built anew, to a verified webhook. */
  quickStart: { isPlayed: isLong, limitMs: 300_000 },
  /** Purchases over three sellers of which one goes down, with workers that are killed. */
  storm: isLong
    ? { purchases: 10_000, atOnce: 20, finalDuringOutage: 2_000, finalBetweenKills: 400, limitMs: 1_800_000 }
    : { purchases: 200, atOnce: 8, finalDuringOutage: 40, finalBetweenKills: 40, limitMs: 120_000 },
  /** Purchases while workers and web are killed and Redis is emptied. */
  crash: isLong ? { purchases: 5_000, limitMs: 900_000 } : { purchases: 250, limitMs: 180_000 },
  /** Rounds in which equal calls meet at two web processes. */
  acceptedOnce: isLong ? { rounds: 100, limitMs: 600_000 } : { rounds: 12, limitMs: 120_000 },
  /** Purchases through two web processes and three workers of each kind: by themselves, or all kinds in each of three. */
  manyProcesses: isLong
    ? { purchases: 2_000, isApart: true, limitMs: 600_000 }
    : { purchases: 40, isApart: false, limitMs: 120_000 },
  /** Webhook events while receivers fail and workers are killed. */
  everyEvent: isLong
    ? { events: 5_000, kills: 15, timeoutMs: 15_000, limitMs: 900_000 }
    : { events: 500, kills: 3, timeoutMs: 4_000, limitMs: 240_000 },
  /** Accounts, of which each has ten receivers of webhooks that are due. */
  sweep: isLong ? { accounts: 1_000, limitMs: 600_000 } : { accounts: 100, limitMs: 120_000 },
  /** Webhook events at a steady rate beside receivers that hang. */
  fairness: isLong
    ? { seconds: 60, perTick: 5, limitMs: 400_000 }
    : { seconds: 5, perTick: 2, limitMs: 120_000 },
  /** Purchases at a steady rate before and while a seller is down, in milliseconds. */
  outage: isLong
    ? { normalMs: 5_000, downMs: 60_000, limitMs: 300_000 }
    : { normalMs: 5_000, downMs: 12_000, limitMs: 120_000 },
  /**
   * Rows of one report. The normal number would fit into the bounds of the long one; so there a process that keeps
   * rows finds no room for them.
   */
  report: isLong
    ? { rows: 1_000_000, heap: '', limitMs: 1_500_000 }
    : { rows: 50_000, heap: '--max-old-space-size=64', limitMs: 120_000 },
  /** Purchases that come faster than their provider takes them, some at once, and the longest wait of their product. */
  backlog: isLong
    ? { purchases: 700, callsPerSecond: 5, maxWaitS: 60, limitMs: 400_000 }
    : { purchases: 120, callsPerSecond: 20, maxWaitS: 2, limitMs: 60_000 },
  /**
   * Random histories of money for each kind of trouble: those that are over at once, and those that take seconds; how many
   * of them a fleet of processes plays at once, and how many fleets there are.
   */
  model: isLong
    ? { quick: 120, slow: 20, atOnce: 4, fleets: 3, limitMs: 900_000 }
    : { quick: 8, slow: 8, atOnce: 4, fleets: 1, limitMs: 120_000 },
  /** Changes of a markup while two processes sell. */
  markupChanges: isLong ? 100 : 20,
  /** Processes that are killed at each named point of a movement of money. */
  killPoints: isLong
    ? { repeats: 15, atOnce: 4, limitMs: 900_000 }
    : { repeats: 2, atOnce: 2, limitMs: 240_000 },
  /**
   * Links between processes x faults x moments: all 150, or each fault and each link once; and how many copies of the
   * service they are played on beside each other.
   */
  faults: isLong ? { every: 1, stacks: 5, limitMs: 1_500_000 } : { every: 29, stacks: 1, limitMs: 240_000 },
  /** How keys are spread over the nodes of a Redis Cluster. */
  clusters: isLong
    ? [
        { tag: '', busyNodes: 3 },
        { tag: '-{one}', busyNodes: 1 },
      ]
    : [{ tag: '', busyNodes: 3 }],
  /** How long Prometheus itself scrapes all processes under load; 0: they are asked by hand alone. */
  scraped: isLong ? { forMs: 120_000, limitMs: 400_000 } : { forMs: 0, limitMs: 180_000 },
  /** Processes that are stopped, and databases that are away, until somebody is told, which takes most of a minute. */
  silence: { isPlayed: isLong },
  /** Each page of the console for each role, width and language. */
  everyPage: { isPlayed: isLong },
  /** Requests made of the OpenAPI document. */
  walk: isLong ? { requests: 10_000 } : { requests: 700 },
  /** Generated requests against everything that listens. */
  hostileRequests: isLong ? { requests: 20_000 } : { requests: 400 },
  /** Rounds of large bodies over every schema. */
  bounds: isLong ? { rounds: 100 } : { rounds: 1 },
  /** How long a receiver of webhooks may drip. Null: as long as in production. */
  hostileUrls: isLong ? { deadlineMs: null } : { deadlineMs: 2_000 },
} as const;
