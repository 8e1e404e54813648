/**
 * Every bound in one place: those of docs/interface.md#limits and our own. Money is in whole rupiah, time in
 * milliseconds.
 */
export const limits = {
  bodyBytesMax: 102_400,
  moneyMax: Number.MAX_SAFE_INTEGER,
  depositMin: 50_000,
  depositMax: 1_000_000_000_000,
  settlementMin: 50_000,
  settlementMax: 1_000_000_000_000,
  pageDefault: 1,
  pageSizeDefault: 20,
  pageSizeMax: 100,
  historyDaysDefault: 30,
  historyDaysMax: 366,
  rateLimitDefault: 300,
  rateLimitMax: 1_000,
  /** Of one address, in a minute. */
  failedAuthenticationsMax: 20,
  allowlistEntriesMax: 100,
  keyOverlapMinutesDefault: 60,
  keyOverlapMinutesMax: 1_440,
  accessTokenMs: 3_600_000,
  urlLengthMax: 2_048,

  /** A dependency that does not answer within this is reported as away (503/03). */
  dependencyTimeoutMs: 2_500,
  /** After this a request asks whether MongoDB still answers, and gives it `pingPatienceMs` to do so. */
  patienceMs: 2_400,
  pingPatienceMs: 450,
  transactionDeadlineMs: 2_500,
  /** How long an API key, an account or a product may be served from a process's own memory. */
  cacheTtlMs: 1_000,
  /** Finish what is under way within this after SIGTERM. */
  drainTimeoutMs: 25_000,
  debitGroupMax: 100,
} as const;
