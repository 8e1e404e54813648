/**
 * What this process met lately that only it can know, kept whether anybody scrapes it or not: nothing is done until something goes wrong
 * (decision 056).
 */
const windowsMs = {
  /** Postings that could not be written, through no fault of MongoDB. */
  failedPostings: 600_000,
  /** Webhooks that could not go out, through no fault of their receivers. */
  unsentWebhooks: 300_000,
  /** Times that nobody could have a connection to MongoDB. */
  refusedConnections: 300_000,
};

export type Trouble = keyof typeof windowsMs;

/** More of one kind say no more. */
const keptMax = 1_000;

const met: Record<Trouble, number[]> = { failedPostings: [], unsentWebhooks: [], refusedConnections: [] };

export function noteTrouble(what: Trouble): void {
  met[what].push(performance.now());
  if (met[what].length > keptMax) {
    met[what].shift();
  }
}

/** How many of each in its last minutes: ten of postings, five of the others. */
export function recentTroubles(): Record<Trouble, number> {
  const countOf = (what: Trouble) => {
    met[what] = met[what].filter((atMs) => performance.now() - atMs < windowsMs[what]);
    return met[what].length;
  };
  return {
    failedPostings: countOf('failedPostings'),
    unsentWebhooks: countOf('unsentWebhooks'),
    refusedConnections: countOf('refusedConnections'),
  };
}
