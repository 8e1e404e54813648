import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { EJSON } from 'bson';
import { expect } from 'chai';
import { MongoClient, ObjectId } from 'mongodb';
import type { Db, Document } from 'mongodb';
import { formatValue } from './aggregation-support.js';
import { cleanUp, startTestServer } from './harness.js';

/**
 * Every kind of command that the service uses, with the reply that MongoDB 7.0 documents. The test
 * always runs on the embedded server, even if MONGODB_URI is set, because other versions of MongoDB
 * use different codes for some errors.
 */
interface GoldenCase {
  readonly name: string;
  readonly documents?: Readonly<Record<string, Document[]>>;
  readonly indexes?: Readonly<Record<string, Document[]>>;
  readonly steps: readonly GoldenStep[];
  /** The final documents of these collections, sorted by `_id`. */
  readonly after?: Readonly<Record<string, Document[]>>;
}

/** A command with the expected fields of its reply, or with the expected error code. */
interface GoldenStep {
  readonly command: Document;
  readonly reply?: Document;
  readonly error?: unknown;
}

const directory = path.resolve('test/golden');
const options = { promoteValues: false } as const;

describe('golden corpus', () => {
  let client: MongoClient;
  before(async () => {
    client = await new MongoClient((await startTestServer()).uri).connect();
  });
  after(async () => {
    await client.close();
    await cleanUp();
  });

  for (const file of readdirSync(directory).sort()) {
    const cases = EJSON.parse(readFileSync(path.join(directory, file), 'utf8'), {
      relaxed: false,
    }) as unknown as GoldenCase[];
    describe(file.replace('.json', ''), () => {
      for (const each of cases) {
        it(each.name, async () => {
          const db = client.db(`golden_${new ObjectId().toHexString()}`);
          await runCase(db, each).finally(() => db.dropDatabase());
        });
      }
    });
  }
});

async function runCase(
  db: Db,
  { documents = {}, indexes = {}, steps, after = {} }: GoldenCase,
): Promise<void> {
  for (const [collection, specifications] of Object.entries(indexes)) {
    await db.command({ createIndexes: collection, indexes: specifications });
  }
  for (const [collection, list] of Object.entries(documents)) {
    await db.command({ insert: collection, documents: list });
  }
  for (const { command, reply = {}, error } of steps) {
    const answer = await db.command(command, options).catch((thrown: unknown) => thrown as Document & Error);
    const text = formatValue(command);
    if (answer instanceof Error) {
      expect(formatValue(Number(answer['code'])), `${text}: ${answer.message}`).to.equal(
        formatValue(Number(error)),
      );
    } else {
      expect(error, `${text} should fail`).to.equal(undefined);
      expectReply(answer, reply, { text, isOrdered: isOrdered(command) });
    }
  }
  for (const [collection, list] of Object.entries(after)) {
    const found = await db.collection(collection).find({}, options).sort({ _id: 1 }).toArray();
    expect(formatValue(found), collection).to.equal(formatValue(list));
  }
}

/**
 * False if the pipeline returns groups that are not sorted, because MongoDB does not guarantee
 * their order.
 */
function isOrdered({ pipeline = [] }: Document): boolean {
  const stages = (pipeline as Document[]).map((stage) => Object.keys(stage)[0]);
  return stages.lastIndexOf('$sort') >= stages.lastIndexOf('$group');
}

/**
 * Documents are compared including the types of their values. Counts in a reply are compared by
 * value only, because their types differ between servers.
 */
function expectReply(
  answer: Document,
  expected: Document,
  { text, isOrdered }: { text: string; isOrdered: boolean },
): void {
  for (const [field, value] of Object.entries(expected) as [string, Document][]) {
    const actual = answer[field] as Document | undefined;
    if (field === 'cursor') {
      const [found, wanted] = [actual?.['firstBatch'], value['firstBatch']].map((batch) =>
        (batch as Document[]).map(formatValue),
      );
      expect(found, text).to.have[isOrdered ? 'ordered' : 'deep'].members(wanted ?? []);
    } else if (field === 'writeErrors') {
      expectWriteErrors(actual as Document[] | undefined, value as Document[], text);
    } else if (field === 'value') {
      expect(formatValue(actual), text).to.equal(formatValue(value));
    } else if (field === 'values') {
      // MongoDB does not guarantee the order of the values that `distinct` returns.
      expect((actual as unknown as unknown[]).map(formatValue), text).to.have.members(
        (value as unknown as unknown[]).map(formatValue),
      );
    } else {
      expect(relaxed(actual), `${text}: ${field}`).to.deep.equal(relaxed(value));
    }
  }
  expect(answer['writeErrors'] === undefined, text).to.equal(expected['writeErrors'] === undefined);
}

function expectWriteErrors(
  actual: readonly Document[] | undefined,
  expected: readonly Document[],
  text: string,
): void {
  expect(actual, text).to.have.lengthOf(expected.length);
  for (const [i, error] of expected.entries()) {
    for (const [field, value] of Object.entries(error)) {
      expect(relaxed(actual?.[i]?.[field]), `${text}: ${field}`).to.deep.equal(relaxed(value));
    }
  }
}

function relaxed(value: unknown): unknown {
  return JSON.parse(EJSON.stringify({ value }, { relaxed: true }));
}
