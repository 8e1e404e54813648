import { DateTime } from 'luxon';

/** ISO 8601 with milliseconds: in UTC, or with the offset that a zone (see `zoneNamed`) had at that instant. */
export function formatIsoTime(at: Date, zone?: string | null): string {
  return (zone && DateTime.fromJSDate(at, { zone }).toISO()) || at.toISOString();
}

/** @returns the zone of the IANA database by this name, in its one spelling (they are remembered by it), or null. */
export function findTimeZone(name: string): string | null {
  try {
    // Newer versions of Node take offsets as well, which know no summer.
    return /^[a-z]/i.test(name)
      ? new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
      : null;
  } catch {
    return null;
  }
}
