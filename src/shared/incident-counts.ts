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

export type Incident = keyof typeof windowsMs;

/** More of one kind say no more. */
const keptMax = 1_000;

const recorded: Record<Incident, number[]> = {
  failedPostings: [],
  unsentWebhooks: [],
  refusedConnections: [],
};

export function recordIncident(what: Incident): void {
  recorded[what].push(performance.now());
  if (recorded[what].length > keptMax) {
    recorded[what].shift();
  }
}

/** How many of each in its last minutes: ten of postings, five of the others. */
export function countRecentIncidents(): Record<Incident, number> {
  const countOf = (what: Incident) => {
    recorded[what] = recorded[what].filter((atMs) => performance.now() - atMs < windowsMs[what]);
    return recorded[what].length;
  };
  return {
    failedPostings: countOf('failedPostings'),
    unsentWebhooks: countOf('unsentWebhooks'),
    refusedConnections: countOf('refusedConnections'),
  };
}
