/**
 * All limits: those of docs/reference/api/limits.md and internal ones. Money is in whole rupiah.
 * Time is in milliseconds unless the name has another unit.
 */
export const limits = {
  bodyBytesMax: 102_400,
  moneyMax: Number.MAX_SAFE_INTEGER,
  depositMin: 50_000,
  depositMax: 1_000_000_000_000,
  /** A payment can match a deposit that was requested at most this many days before. */
  depositPaidWithinDays: 31,
  /** Payable pending deposits per account. Each one is compared with every bank statement. */
  pendingDepositsMax: 1_000,
  settlementMin: 50_000,
  settlementMax: 1_000_000_000_000,
  /**
   * For this long after a change of the account's security settings, settlements wait for an
   * operator.
   */
  settlementGuardMs: 86_400_000,
  pageDefault: 1,
  pageSizeDefault: 20,
  pageSizeMax: 100,
  /** Entries of a PDF statement, which is rendered in memory. CSV statements have no limit. */
  statementPdfEntriesMax: 5_000,
  /** ref_ids per lookup. */
  lookupMax: 100,
  historyDaysDefault: 30,
  historyDaysMax: 366,
  /** A report of more days is long. Short reports run first. */
  shortReportDaysMax: 31,
  rateLimitDefault: 300,
  rateLimitMax: 1_000,
  /**
   * Seconds that an order may wait for its turn: bounds for sellers and operators, and the default.
   */
  maxWaitMinS: 1,
  maxWaitMaxS: 86_400,
  maxWaitDefaultS: 600,
  /** Offers per seller. One list holds all of them. */
  productsPerSellerMax: 20_000,
  /** Markup rules. Every process keeps all of them in memory. */
  markupsMax: 5_000,
  markupRupiahMax: 1_000_000_000,
  /**
   * Price or cost in rupiah that operators may set or search purchases by. The seller API allows
   * more.
   */
  offerPriceMax: 999_999_999,
  /** Size of an imported price list. */
  priceFileBytesMax: 5_000_000,
  priceFileLinesMax: 10_000,
  /**
   * Bank statements: bytes, lines, the greatest age of a line, and days for which decided lines are
   * kept.
   */
  bankStatementBytesMax: 5_000_000,
  bankStatementLinesMax: 10_000,
  bankLineAgeMaxDays: 90,
  bankLineKeptDays: 400,
  /** Days for which the changes of a price import are kept and can be undone. */
  priceImportRowsKeptDays: 400,
  /** Per address and minute. */
  failedAuthenticationsMax: 20,
  /**
   * Failed authentication takes at least this long, so that timing does not reveal which keys and
   * names exist.
   */
  refusalFloorMs: 10,
  /** Request log rows per process and account. */
  loggedFailuresPerMinute: 60,
  loggedSuccessesPerMinute: 30,
  allowlistEntriesMax: 100,
  keyOverlapMinutesDefault: 60,
  keyOverlapMinutesMax: 1_440,
  accessTokenMs: 3_600_000,
  /** A refused reseller call binds its md5 sign to its order for this long. */
  signBindingMs: 86_400_000,
  urlLengthMax: 2_048,
  /**
   * Concurrent requests to one webhook receiver from the whole fleet: the start value, the default
   * maximum, and the highest maximum that an account may set.
   */
  inFlightStart: 4,
  inFlightDefault: 32,
  inFlightMax: 128,
  /** Per account, including `webhook_url`. Each event writes one row per endpoint. */
  webhookEndpointsMax: 10,
  webhookDescriptionMax: 200,
  /** A bill inquiry is kept for this long. A paid one is masked then. */
  quoteKeptMs: 30 * 86_400_000,

  /** A dependency that does not answer within this time is reported as unavailable (503/03). */
  dependencyTimeoutMs: 2_500,
  /**
   * A starting process waits this long for MongoDB: longer than an election or the start of a
   * database.
   */
  startPatienceMs: 60_000,
  /** For the migration. Index builds keep a small server busy. */
  migrationConnectMs: 30_000,
  /** After this time a request pings MongoDB and waits `pingPatienceMs` for the answer. */
  patienceMs: 2_400,
  pingPatienceMs: 450,
  transactionDeadlineMs: 2_500,
  /** Socket timeout of MongoDB commands other than postings. */
  mongoSocketMs: 10_000,
  /**
   * Advised `transactionLifetimeLimitSeconds` of MongoDB: well above `transactionDeadlineMs`, well
   * below the usual 60.
   */
  lockLifetimeAdvisedS: 10,
  /**
   * Cache lifetime of keys, accounts, products and routes while the process receives invalidations.
   */
  cacheMs: 60_000,
  /** Cache lifetime while Redis is unavailable and the process receives no invalidations. */
  cacheDeafMs: 1_000,
  /** Entries with longer keys are loaded and not cached. */
  cacheKeyLengthMax: 200,
  /**
   * A process relies on cache invalidations for this long after its own beat returned from Redis.
   */
  hearingMs: 1_000,
  /**
   * Pipelined requests that wait on one connection. A client that sends more loses the connection.
   */
  pipelinedMax: 32,
  /** A connection is closed if its client reads nothing of the response for this long. */
  stillConnectionMs: 120_000,
  /**
   * After SIGTERM: time for work in progress, for each connection to close, and in total
   * (`stopMs`).
   */
  drainMs: 20_000,
  closeStepMs: 1_000,
  /** Part of drainMs in which a stop waits for request bodies that clients have begun to send. */
  bodyAtStopMs: 2_000,
  /** The same for a client that reads nothing of its response. Time before the stop counts. */
  stillAtStopMs: 10_000,
  stopMs: 25_000,

  /** Lanes per process that write postings in groups, and postings per group. */
  postingLanes: 2,
  postingGroupMax: 100,
  /** The posting engine answers its caller within this time. */
  postingDeadlineMs: 2_500,
  /** MongoDB timeouts of a posting: per command, and for server selection. */
  postingSocketMs: 3_000,
  postingSelectionMs: 1_000,
  postingConnectionsMax: 10,
  /** Documents that hold an account's totals of a day. Processes lease the first of them. */
  totalsSlots: 64,
  totalsSlotsLeased: 48,
} as const;
