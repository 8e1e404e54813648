/**
 * Time windows, in milliseconds, for counting incidents that only this process sees. Incidents are
 * counted with and without metrics (decision 056).
 */
const windowsMs = {
  /** Postings that could not be written for reasons other than MongoDB. */
  failedPostings: 600_000,
  /** Webhooks that could not be sent for reasons other than their receivers. */
  unsentWebhooks: 300_000,
  /** Failed checkouts of a connection to MongoDB. */
  refusedConnections: 300_000,
};

export type Incident = keyof typeof windowsMs;

/** Maximum number of incidents kept per kind. A higher number would give no more information. */
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

/** Counts recent incidents of each kind, within its window in `windowsMs`. */
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
