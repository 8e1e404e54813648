/**
 * All limits: those of docs/reference/api/limits.md and internal ones. Money is in whole rupiah.
 * Times are in milliseconds unless the name contains another unit.
 */
export const limits = {
  bodyBytesMax: 102_400,
  moneyMax: Number.MAX_SAFE_INTEGER,
  depositMin: 50_000,
  depositMax: 1_000_000_000_000,
  /** Maximum number of days between the request of a deposit and a payment that matches it. */
  depositPaidWithinDays: 31,
  /** Payable pending deposits per account. Each of them is compared with every bank statement. */
  pendingDepositsMax: 1_000,
  settlementMin: 50_000,
  settlementMax: 1_000_000_000_000,
  /**
   * Time after a change of the account's security settings during which settlements need an
   * operator's approval.
   */
  settlementGuardMs: 86_400_000,
  pageDefault: 1,
  pageSizeDefault: 20,
  pageSizeMax: 100,
  /** Entries of a PDF statement, which is rendered in memory. A CSV statement has no limit. */
  statementPdfEntriesMax: 5_000,
  /** Number of ref_ids in one lookup. */
  lookupMax: 100,
  historyDaysDefault: 30,
  historyDaysMax: 366,
  /** Maximum number of days of a short report. Short reports run before longer ones. */
  shortReportDaysMax: 31,
  rateLimitDefault: 300,
  rateLimitMax: 1_000,
  /** Minimum of the wait limit that sellers and operators may set for an order, in seconds. */
  maxWaitMinS: 1,
  /** Maximum of that wait limit. */
  maxWaitMaxS: 86_400,
  /** Wait limit of an order if neither the product nor the provider has one. */
  maxWaitDefaultS: 600,
  /** Number and length of the texts that a provider writes where it has no serial number. */
  serialPlaceholdersMax: 50,
  serialPlaceholderLengthMax: 64,
  /** Offers per seller. One list contains all offers of a seller. */
  productsPerSellerMax: 20_000,
  /** Number of markup rules. Every process keeps all of them in memory. */
  markupsMax: 5_000,
  markupRupiahMax: 1_000_000_000,
  /**
   * Maximum price or cost in rupiah that operators may set or search for. The seller API allows
   * more.
   */
  offerPriceMax: 999_999_999,
  /** Maximum size of an imported price list. */
  priceFileBytesMax: 5_000_000,
  /** Maximum number of lines in an imported price list. */
  priceFileLinesMax: 10_000,
  /** Maximum size of a bank statement. */
  bankStatementBytesMax: 10_000_000,
  /** Maximum number of lines in a bank statement. */
  bankStatementLinesMax: 50_000,
  /** Maximum age of a line that a statement may contain. */
  bankLineAgeMaxDays: 90,
  /** Days for which used and set-aside lines are kept. */
  bankLineKeptDays: 400,
  /** Days for which the rows of a price import are kept, so that the import can be undone. */
  priceImportRowsKeptDays: 400,
  /** Failed authentications per client address and minute. */
  failedAuthenticationsMax: 20,
  /**
   * Minimum duration of a failed authentication, so that timing does not reveal which keys and
   * names exist.
   */
  refusalFloorMs: 10,
  /** Failed calls that one process logs per account and minute. */
  loggedFailuresPerMinute: 60,
  loggedSuccessesPerMinute: 30,
  allowlistEntriesMax: 100,
  keyOverlapMinutesDefault: 60,
  keyOverlapMinutesMax: 1_440,
  accessTokenMs: 3_600_000,
  /** Time for which a refused reseller call binds its ref_id to its product and customer number. */
  signBindingMs: 86_400_000,
  urlLengthMax: 2_048,
  /** Starting limit of concurrent requests to one webhook receiver, over all processes. */
  inFlightStart: 4,
  /** Maximum of this limit if the account sets none. */
  inFlightDefault: 32,
  /** Highest maximum that an account may set. */
  inFlightMax: 128,
  /**
   * Webhook endpoints per account, including `webhook_url`. Each event writes one row per endpoint.
   */
  webhookEndpointsMax: 10,
  webhookDescriptionMax: 200,
  /**
   * Time for which the quote of a bill inquiry is kept. After that, an unpaid quote is removed and
   * a paid quote is masked.
   */
  quoteKeptMs: 30 * 86_400_000,

  /** A dependency that does not respond within this time is reported as unavailable (503/03). */
  dependencyTimeoutMs: 2_500,
  /**
   * Time that a starting process waits for MongoDB. It is longer than an election or the start of a
   * database.
   */
  startPatienceMs: 60_000,
  /**
   * Connection timeout of the migration. It is long because index builds keep a small server busy.
   */
  migrationConnectMs: 30_000,
  /** Time after which a request pings MongoDB. It then waits `pingPatienceMs` for the response. */
  patienceMs: 2_400,
  pingPatienceMs: 450,
  transactionDeadlineMs: 2_500,
  /** Socket timeout of MongoDB commands that are not postings. */
  mongoSocketMs: 10_000,
  /**
   * Recommended `transactionLifetimeLimitSeconds` of MongoDB. It is well above
   * `transactionDeadlineMs` and well below the default of 60.
   */
  lockLifetimeAdvisedS: 10,
  /**
   * Lifetime of cached keys, accounts, products and routes while the process receives
   * invalidations.
   */
  cacheMs: 60_000,
  /**
   * Lifetime of cached values while the process receives no invalidations because Redis is
   * unavailable.
   */
  cacheDeafMs: 1_000,
  /** Maximum key length in a cache. Entries with longer keys are loaded but not cached. */
  cacheKeyLengthMax: 200,
  /** Time after a returned beat during which a process relies on receiving cache invalidations. */
  hearingMs: 1_000,
  /**
   * Maximum number of pipelined requests that wait on one connection. If a client sends more, its
   * connection is closed.
   */
  pipelinedMax: 32,
  /** A connection is closed if its client reads nothing of the response for this long. */
  stillConnectionMs: 120_000,
  /** Time after SIGTERM for work in progress to end. */
  drainMs: 20_000,
  /** Time after SIGTERM for each connection to close. */
  closeStepMs: 1_000,
  /**
   * Part of `drainMs` in which a stopping process waits for request bodies that clients have begun
   * to send.
   */
  bodyAtStopMs: 2_000,
  /** Like `stillConnectionMs`, but while the process stops. Time before the stop counts. */
  stillAtStopMs: 10_000,
  /** Total time after SIGTERM for the process to stop. */
  stopMs: 25_000,

  /** Number of lanes per process. Each lane writes postings in groups. */
  postingLanes: 2,
  /** Maximum number of postings in a group. */
  postingGroupMax: 100,
  /** Time within which the posting engine returns a result to its caller. */
  postingDeadlineMs: 2_500,
  /** Socket timeout of a MongoDB command of a posting. */
  postingSocketMs: 3_000,
  postingSelectionMs: 1_000,
  postingConnectionsMax: 10,
  /** Number of slot documents for an account's totals of a day. Processes lease the first ones. */
  totalsSlots: 64,
  totalsSlotsLeased: 48,
} as const;
