/** What the operator is told in place of an error that a database away has caused: which, and what to do. */

interface Away {
  name: 'MongoDB' | 'Redis';
  setting: 'MONGODB_URI' | 'REDIS_URL';
  says: string;
  /** It answers, and takes no writes: what to do is something else than to start it. */
  refuses?: true;
}

/** Its message is all that is to be said. */
export class OutageError extends Error {}

/**
 * The error itself where no database has caused it.
 * @param connecting What MongoDB said when the command began; null: it was there.
 */
export async function asOutage(error: unknown, connecting: unknown): Promise<Error> {
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
    return asError(error);
  }
  const outage = sentenceOf(await whoIsAway(connecting));
  if (error instanceof UnknownOutcomeError) {
    return new OutageError(`It is not known whether this was done: look before you do it again. ${outage}`);
  }
  // What cannot be done again as it was says so itself, and where to look.
  const isUsual = !(error instanceof DependencyError) || error.message === new DependencyError(null).message;
  return new OutageError(isUsual ? outage : `${error.message} ${outage}`);
}

async function whoIsAway(connecting: unknown): Promise<Away[]> {
  const [{ pingMongo }, { noAnswer, findRedisProblem }] = await Promise.all([
    import('../../src/database/mongo.js'),
    import('../../src/redis/server-health.js'),
  ]);
  const [mongodb, refusal] = await Promise.all([
    (connecting === null ? pingMongo() : Promise.reject(asError(connecting))).then(() => null, wordsOf),
    // Not by a ping: one that is full or a replica answers it.
    findRedisProblem(),
  ]);
  const redis = { name: 'Redis', setting: 'REDIS_URL' } as const;
  return [
    ...(mongodb === null ? [] : [{ name: 'MongoDB', setting: 'MONGODB_URI', says: mongodb } as const]),
    ...(refusal === noAnswer ? [{ ...redis, says: 'does not answer' }] : []),
    ...(refusal !== null && refusal !== noAnswer
      ? [{ ...redis, says: refusal, refuses: true } as const]
      : []),
  ];
}

function wordsOf(error: unknown): string {
  return error instanceof Error && error.name === 'MongoServerError'
    ? `refuses: ${error.message}`
    : 'does not answer';
}

function sentenceOf(away: Away[]): string {
  if (away.length === 0) {
    return 'A database did not answer for a moment, and does now: run the command again.';
  }
  const gone = away.filter(({ refuses }) => !refuses);
  const said = gone.map(({ name, says }) => `${name} ${says}`).join(', ');
  return [
    ...(gone.length === 0
      ? []
      : [
          `${said}. Is the service running? (npm start, or check ${gone.map(({ setting }) => setting).join(' and ')})`,
        ]),
    ...away
      .filter(({ refuses }) => refuses)
      .map(
        ({ says, setting }) => `${says} Mend it (docs/guides/operate/prepare-redis.md), or check ${setting}.`,
      ),
  ].join(' ');
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
