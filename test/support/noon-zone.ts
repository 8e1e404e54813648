/**
 * Returns a time zone in which it is about noon. Daily jobs are then due, and midnight is hours
 * away.
 */
export function findNoonZone(): string {
  const offset = new Date().getUTCHours() - 12;
  return offset === 0 ? 'UTC' : `Etc/GMT${offset > 0 ? '+' : ''}${offset}`;
}
