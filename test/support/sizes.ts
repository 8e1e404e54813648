/**
 * How large the tests are that have two sizes: the normal one shows each guarantee in `npm test`, the long one
 * (`npm run test:long`, LONG_TESTS=1) in the numbers that the guarantee is about.
 */
const isLong = process.env['LONG_TESTS'] === '1';

export const sizes = {
  /** Purchases over three sellers of which one goes down, with workers that are killed. */
  storm: isLong
    ? { purchases: 10_000, atOnce: 20, finalDuringOutage: 2_000, finalBetweenKills: 400, limitMs: 1_800_000 }
    : { purchases: 200, atOnce: 8, finalDuringOutage: 40, finalBetweenKills: 40, limitMs: 120_000 },
  /** Purchases while workers and web are killed and Redis is emptied. */
  crash: isLong ? { purchases: 5_000, limitMs: 900_000 } : { purchases: 500, limitMs: 180_000 },
  /** Webhook events while receivers fail and workers are killed. */
  everyEvent: isLong
    ? { events: 5_000, kills: 15, timeoutMs: 15_000, limitMs: 900_000 }
    : { events: 1_000, kills: 4, timeoutMs: 4_000, limitMs: 240_000 },
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
    : { rows: 50_000, heap: '--max-old-space-size=56', limitMs: 120_000 },
  /** Requests made of the OpenAPI document. */
  walk: isLong ? { requests: 10_000 } : { requests: 1_500 },
  /** How long a receiver of webhooks may drip. Null: as long as in production. */
  hostileUrls: isLong ? { deadlineMs: null } : { deadlineMs: 2_000 },
} as const;
