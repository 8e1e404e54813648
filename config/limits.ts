/**
 * Every bound in one place: those of docs/reference/api/limits.md and our own. Money is in whole rupiah, time in
 * milliseconds.
 */
export const limits = {
  bodyBytesMax: 102_400,
  moneyMax: Number.MAX_SAFE_INTEGER,
  depositMin: 50_000,
  depositMax: 1_000_000_000_000,
  /** A payment is one of a deposit that was asked for at most so many days before. */
  depositPaidWithinDays: 31,
  /** Of one account that wait for their payment and can still be paid: each is held against every bank statement. */
  pendingDepositsMax: 1_000,
  settlementMin: 50_000,
  settlementMax: 1_000_000_000_000,
  /** So long after a change of what guards the account a settlement waits for the operator. */
  settlementGuardMs: 86_400_000,
  pageDefault: 1,
  pageSizeDefault: 20,
  pageSizeMax: 100,
  /** Movements in a statement as PDF, which is drawn whole in memory. CSV has no such bound. */
  statementPdfEntriesMax: 5_000,
  /** ref_ids in one look-up. */
  lookupMax: 100,
  historyDaysDefault: 30,
  historyDaysMax: 366,
  /** A report of more days is a long one: short ones go before it. */
  shortReportDaysMax: 31,
  rateLimitDefault: 300,
  rateLimitMax: 1_000,
  /** Seconds that an order may wait for its turn: what a seller or an operator may say, and without that. */
  maxWaitMinS: 1,
  maxWaitMaxS: 86_400,
  maxWaitDefaultS: 600,
  /** Offers of one seller: what one list of them holds. */
  productsPerSellerMax: 20_000,
  /** Rules of what buyers pay above sellers' prices: every process keeps all of them. */
  markupsMax: 5_000,
  markupRupiahMax: 1_000_000_000,
  /**
   * Of a price or a cost, rupiah: what an operator sets, and what purchases are looked for by. What the contract of sellers' calls
   * promises is more.
   */
  offerPriceMax: 999_999_999,
  /** Of a price list that an operator imports. */
  priceFileBytesMax: 5_000_000,
  priceFileLinesMax: 10_000,
  /** Of a bank statement: all of its lines, and how old one may be, in days. What was decided about one is kept for longer. */
  bankStatementBytesMax: 5_000_000,
  bankStatementLinesMax: 10_000,
  bankLineAgeMaxDays: 90,
  bankLineKeptDays: 400,
  /** So long what an import of a price list has changed is kept, in days: until then it can be undone. */
  priceImportRowsKeptDays: 400,
  /** Of one address, in a minute. */
  failedAuthenticationsMax: 20,
  /** A wrong key, sign or name is refused no sooner, so that the time does not tell which of them exists. */
  refusalFloorMs: 10,
  /** Rows of the request log that one process makes for one account. */
  loggedFailuresPerMinute: 60,
  loggedSuccessesPerMinute: 30,
  allowlistEntriesMax: 100,
  keyOverlapMinutesDefault: 60,
  keyOverlapMinutesMax: 1_440,
  accessTokenMs: 3_600_000,
  /** How long a refused call of the reseller surface keeps its md5 sign from being used for another order. */
  signBindingMs: 86_400_000,
  urlLengthMax: 2_048,
  /**
   * Requests that one receiver of webhooks may have under way, from the whole fleet: where it begins, how far that may
   * grow, and the most that its account may set instead.
   */
  inFlightStart: 4,
  inFlightDefault: 32,
  inFlightMax: 128,
  /** Of one account, that of `webhook_url` among them: each event makes a row for each of them. */
  webhookEndpointsMax: 10,
  webhookDescriptionMax: 200,
  /** A bill inquiry is kept for so long; a paid one is then masked. */
  quoteKeptMs: 30 * 86_400_000,

  /** A dependency that does not answer within this is reported as away (503/03). */
  dependencyTimeoutMs: 2_500,
  /** A process that starts waits so long for MongoDB: longer than an election, or than a database that starts beside it. */
  startPatienceMs: 60_000,
  /** For the migration, whose indexes keep a small server busy. */
  migrationConnectMs: 30_000,
  /** After this a request asks whether MongoDB still answers, and gives it `pingPatienceMs` to do so. */
  patienceMs: 2_400,
  pingPatienceMs: 450,
  transactionDeadlineMs: 2_500,
  /** A command of anything but a posting hears from MongoDB within this, or its socket is dead. */
  mongoSocketMs: 10_000,
  /** Seconds of MongoDB's `transactionLifetimeLimitSeconds`: well above `transactionDeadlineMs`, well below the usual 60. */
  lockLifetimeAdvisedS: 10,
  /** How long keys, accounts, products and routes are served from the memory of a process that hears of changes. */
  cacheMs: 60_000,
  /** The same while it does not: Redis is away. */
  cacheDeafMs: 1_000,
  /** What is asked for by a longer name is loaded and not remembered. */
  cacheKeyLengthMax: 200,
  /** A process counts as hearing for so long after its own beat came back from Redis. */
  hearingMs: 1_000,
  /** Requests that wait on one connection for the answers before theirs; who sends more loses the connection. */
  pipelinedMax: 32,
  /** A connection whose client has taken nothing of its answer for so long is closed. */
  stillConnectionMs: 120_000,
  /** After SIGTERM: what is under way has so long to finish, each connection so long to close, and all so long to be over. */
  drainMs: 20_000,
  closeStepMs: 1_000,
  /** Of drainMs: how long a stop waits for bodies that clients have begun to send. */
  bodyAtStopMs: 2_000,
  /** And for a client that takes nothing of its answer; what it took nothing of before the stop counts. */
  stillAtStopMs: 10_000,
  stopMs: 25_000,

  /** Lanes of a process in which postings are written in groups, and the postings of a group. */
  postingLanes: 2,
  postingGroupMax: 100,
  /** A caller of the posting engine is answered within this. */
  postingDeadlineMs: 2_500,
  /** What MongoDB has for one command of a posting, and for being found. */
  postingSocketMs: 3_000,
  postingSelectionMs: 1_000,
  postingConnectionsMax: 10,
  /** Documents that the totals of an account's day are written in; the first of them are leased by processes. */
  totalsSlots: 64,
  totalsSlotsLeased: 48,
} as const;
