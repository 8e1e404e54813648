/**
 * The most that one verification by a worker takes. What hangs is ended long before, by its lease: no part of it was read for a
 * quarter of an hour (verify-daily.ts).
 */
export const verificationMaxMs = 12 * 3_600_000;
