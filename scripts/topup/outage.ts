/** Explains an error that a database outage caused. Names the database and what to do. */

interface UnavailableDatabase {
  name: 'MongoDB' | 'Redis';
  setting: 'MONGODB_URI' | 'REDIS_URL';
  says: string;
  /** True if the database responds but refuses writes, so that starting it does not help. */
  refuses?: true;
}

/** An error for the user. Only its message is printed. */
export class OutageError extends Error {}

/**
 * Returns the error to show: an OutageError if a database caused it, and otherwise the error
 * itself.
 * @param connecting The error from connecting to MongoDB. Null if the connection succeeded.
 */
export async function toOutageError(error: unknown, connecting: unknown): Promise<Error> {
  const [
    { AppError, DependencyError },
    { isOutage },
    { ServerTooOldError },
    { UsageError },
    { UnknownOutcomeError },
  ] = await Promise.all([
    import('../../src/shared/errors.js'),
    import('../../src/jobs/is-outage.js'),
    import('../../src/shared/server-versions.js'),
    import('./usage-error.js'),
    import('../../src/database/mongo.js'),
  ]);
  if (error instanceof ServerTooOldError) {
    return new OutageError(error.message);
  }
  const isRefusal = error instanceof AppError && !(error instanceof DependencyError);
  if (isRefusal || error instanceof UsageError || !isOutage(error)) {
    return toError(error);
  }
  const outage = sentenceOf(await findUnavailableDatabases(connecting));
  if (error instanceof UnknownOutcomeError) {
    return new OutageError(
      `The outcome is unknown. Check the state before you repeat the command. ${outage}`,
    );
  }
  // An error with its own message explains why the call cannot simply be repeated.
  const isUsual = !(error instanceof DependencyError) || error.message === new DependencyError(null).message;
  return new OutageError(isUsual ? outage : `${error.message} ${outage}`);
}

async function findUnavailableDatabases(connecting: unknown): Promise<UnavailableDatabase[]> {
  const [{ pingMongo }, { noResponseMessage, findRedisProblem }] = await Promise.all([
    import('../../src/database/mongo.js'),
    import('../../src/redis/server-health.js'),
  ]);
  const [mongodb, refusal] = await Promise.all([
    (connecting === null ? pingMongo() : Promise.reject(toError(connecting))).then(() => null, wordsOf),
    // A ping is not sufficient, because a full Redis and a replica respond to it.
    findRedisProblem(),
  ]);
  const redis = { name: 'Redis', setting: 'REDIS_URL' } as const;
  return [
    ...(mongodb === null ? [] : [{ name: 'MongoDB', setting: 'MONGODB_URI', says: mongodb } as const]),
    ...(refusal === noResponseMessage ? [{ ...redis, says: 'does not respond' }] : []),
    ...(refusal !== null && refusal !== noResponseMessage
      ? [{ ...redis, says: refusal, refuses: true } as const]
      : []),
  ];
}

function wordsOf(error: unknown): string {
  return error instanceof Error && error.name === 'MongoServerError'
    ? `refuses: ${error.message}`
    : 'does not respond';
}

function sentenceOf(away: UnavailableDatabase[]): string {
  if (away.length === 0) {
    return 'A database was unavailable for a moment and is available again. Run the command again.';
  }
  const unreachable = away.filter(({ refuses }) => !refuses);
  const reasons = unreachable.map(({ name, says }) => `${name} ${says}`).join(', ');
  return [
    ...(unreachable.length === 0
      ? []
      : [
          `${reasons}. Is the service running? (npm start, or check ${unreachable.map(({ setting }) => setting).join(' and ')})`,
        ]),
    ...away
      .filter(({ refuses }) => refuses)
      .map(
        ({ says, setting }) => `${says} Fix it (docs/guides/operate/prepare-redis.md), or check ${setting}.`,
      ),
  ].join(' ');
}

export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
