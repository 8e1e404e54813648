/**
 * The examples of the OpenAPI document are recorded responses. This test makes every call and
 * compares the shapes of the responses with config/openapi-examples.json. RECORD=1 writes that
 * file.
 *
 * Because every call is made here, the test also checks the MongoDB statements against the shard
 * keys (docs/guides/operate/scale.md).
 */
import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { getConfigPath } from '../../../../config/project-file.js';
import { describedInterface } from '../../../../src/api/openapi/document.js';
import { recordedExamples } from '../../../../src/api/openapi/examples.js';
import type { Response } from '../../../../src/api/openapi/types.js';
import { queriesIn, findUnboundedPlan, unboundedQueries } from '../../../database/query-plans.js';
import { problemsOf } from '../../../support/json-schema.js';
import { eventually } from '../../../support/eventually.js';
import type { Stack } from '../../../support/stack.js';
import {
  judgeStatements,
  shapeOf as shapeOfStatement,
  type StatementJudgement,
} from '../../../database/sharding/judge-statements.js';
import { startShardedStack, type ShardedStack } from '../../../database/sharding/sharded-stack.js';
import { callConcurrently, allowed, operate } from '../../../database/sharding/statements.js';
import { recordExamples } from './record-examples.js';

const howToRecord =
  'config/openapi-examples.json is out of date: RECORD=1 npm test -- test/api/openapi/examples/examples.long.test.ts, then npm run format';

describe('examples of the OpenAPI document', function () {
  this.timeout(120_000);
  let sharded: ShardedStack;
  let stack: Stack;

  before(async () => {
    sharded = await startShardedStack({
      workers: ['fulfilment', 'follow-up', 'webhooks', 'sellers', 'settlements', 'inquiries'],
      // The metrics server adds the queries for service-wide figures.
      env: { SETTLEMENT_NEW_ACCOUNT_REVIEW: 'true', METRICS_PORT: '0' },
    });
    stack = sharded.stack;
  });
  after(() => sharded.stop());

  it('match the responses of the service', async () => {
    const played = await recordExamples(stack);
    if (process.env['RECORD']) {
      await writeFile(getConfigPath('openapi-examples.json'), `${JSON.stringify(played, null, 2)}\n`);
      return;
    }
    const [recorded, now] = [shapeOf(recordedExamples), shapeOf(played)];
    // Filter both lists, so that a failure shows only the differences.
    expect(
      {
        gone: recorded.filter((each) => !now.includes(each)),
        added: now.filter((each) => !recorded.includes(each)),
      },
      howToRecord,
    ).to.deep.equal({ gone: [], added: [] });
    expect(now, howToRecord).to.have.length(recorded.length);
  });

  it('use only statements that name their shard or are listed as exceptions', async () => {
    await callConcurrently(stack);
    await operate(stack);
    const judge = () => judgeStatements(sharded.tap.sent, sharded.splits);
    const namesOf = (reasons: Record<string, string>) => Object.keys(reasons).sort();
    // Check both directions: every scattered statement is listed, and every listed statement
    // occurs.
    await eventually(
      'every listed statement has occurred',
      () =>
        Promise.resolve(
          namesOf(allowed.scattered).every((name) => scatteredIn(judge(), false).includes(name)),
        ),
      30_000,
    ).catch(() => undefined);
    const judged = judge();
    expect([...judged.unknown]).to.deep.equal([]);
    expect(scatteredIn(judged, false)).to.deep.equal(namesOf(allowed.scattered));
    expect(scatteredIn(judged, true)).to.deep.equal(namesOf(allowed.scatteredInTransactions));
    expect(judged.mixed, 'transaction statements on accounts of several shards').to.deep.equal([]);
    expect([...judged.crossing.keys()].sort()).to.deep.equal(namesOf(allowed.crossing));
    expect(judged.transactions.onOneShard).to.be.greaterThan(20);
  });

  it('use only queries that read and sort within bounds or are listed as exceptions', async () => {
    await stack.startWorker('reports');
    await eventually('all reports are ready', async () => {
      const status = { $in: ['pending', 'processing'] };
      return (await stack.db.collection('reports').countDocuments({ status })) === 0;
    });
    const queries = queriesIn(sharded.tap.sent);
    const unlisted: Record<string, string> = {};
    for (const [shape, query] of queries) {
      const problem = await findUnboundedPlan(stack.db, query);
      if (problem !== null && !(shape in unboundedQueries)) {
        unlisted[shape] = problem;
      }
    }
    expect(unlisted).to.deep.equal({});
    expect(Object.keys(unboundedQueries).filter((shape) => !queries.has(shape))).to.deep.equal([]);
    expect(queries.size).to.be.greaterThan(200);
  });

  it('exist for every success of every call, every failure and every webhook', () => {
    const document = describedInterface();
    const lacking = Object.values(document.paths)
      .flatMap((item) => Object.values(item))
      .flatMap(({ operationId, responses }) =>
        Object.entries(responses)
          .filter(([, response]) => 'content' in response && !hasExample(response))
          .map(([status]) => `${operationId} ${status}`),
      );
    expect(lacking).to.deep.equal([]);
    expect(recordedExamples.webhooks).to.have.all.keys(Object.keys(document.webhooks));
    for (const [name, { content }] of Object.entries(document.components.responses)) {
      const { example, examples } = content['application/json'] ?? {};
      expect(examples ?? example, name).to.be.an('object');
    }
  });

  it('match their schemas', () => {
    const document = describedInterface();
    const contents = [
      ...Object.values(document.paths).flatMap((item) => Object.values(item)),
      ...Object.values(document.webhooks).flatMap((item) => Object.values(item)),
    ].flatMap(({ requestBody, responses }) => [
      ...(requestBody ? Object.values(requestBody.content) : []),
      ...[...Object.values(responses), ...Object.values(document.components.responses)]
        .filter((each): each is Response => 'content' in each)
        .flatMap(({ content }) => Object.values(content)),
    ]);
    for (const { schema, example, examples } of contents) {
      const values = [
        ...(example === undefined ? [] : [example]),
        ...Object.values(examples ?? {}).map(valueOf),
      ];
      for (const value of values) {
        expect(problemsOf(schema, value), JSON.stringify(value).slice(0, 300)).to.deep.equal([]);
      }
    }
  });

  it('contain no key, secret or address of the recording machine', () => {
    const text = JSON.stringify(recordedExamples);
    expect(text).not.to.match(/127\.0\.0\.1:|localhost|whsec_(?!MDEyMzQ1Njc4OWFiY2RlZg==)/);
    expect(text).not.to.match(/[bs]k_(test|live)_(?!0123456789abcdef)/);
  });
});

function hasExample({ content }: Response): boolean {
  // Binary content needs no example.
  return Object.values(content).every(
    (each) => each.schema.contentMediaType !== undefined || (each.example ?? each.examples) !== undefined,
  );
}

function valueOf({ value }: { value: unknown }): unknown {
  return value;
}

/**
 * Returns the path and type of every value, so that a failure shows which field differs. Of a list
 * it returns only the first item.
 */
function shapeOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) {
    return [`${path}: list`, ...value.slice(0, 1).flatMap((each) => shapeOf(each, `${path}[]`))];
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, each]) => shapeOf(each, `${path}/${name}`));
  }
  return [`${path}: ${value === null ? 'null' : typeof value}`];
}

function scatteredIn({ scattered }: StatementJudgement, inTransactions: boolean): string[] {
  return [...scattered.values()]
    .filter(({ command }) => (command.transaction !== null) === inTransactions)
    .map(shapeOfStatement)
    .sort();
}
