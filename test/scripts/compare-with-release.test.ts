import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  acceptRelease,
  contractProblems,
  findAcceptanceProblem,
} from '../../scripts/openapi/compare-with-release.js';

/** Builds a document with one response that has these fields. */
const documentOf = (...fields: string[]) => ({
  paths: {
    '/items': {
      get: {
        summary: 'Words are no contract',
        responses: {
          200: {
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: Object.fromEntries(fields.map((name) => [name, { type: 'string' }])),
                },
              },
            },
          },
        },
      },
    },
  },
});
const acceptedBreak = { at: ['GET /items 200.price'], what: 'is gone', reason: 'It was always null.' };

describe('comparison of the OpenAPI document with the last release', () => {
  let folder: string;

  /** Writes the files of release 1.0.0, whose response has the fields id and price. */
  function writeRelease(accepted: object[] = [], change: { sha256?: string } = {}) {
    const baseline = JSON.stringify(documentOf('id', 'price'));
    const sha256 = createHash('sha256').update(baseline).digest('hex');
    writeFileSync(join(folder, 'baseline.json'), baseline);
    const list = { release: '1.0.0', sha256, accepted, ...change };
    writeFileSync(join(folder, 'accepted-breaks.json'), JSON.stringify(list));
  }
  const problemsOf = (document: Parameters<typeof contractProblems>[1], version = '1.0.0') =>
    contractProblems({ folder, version }, document);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'contract-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('refuses a removed field until it is accepted and allows additions', () => {
    writeRelease();
    expect(problemsOf(documentOf('id', 'price', 'more'))).to.deep.equal([]);
    expect(problemsOf(documentOf('id'))).to.deep.equal(['Breaks clients: GET /items 200.price: is gone']);
    writeRelease([acceptedBreak]);
    expect(problemsOf(documentOf('id'))).to.deep.equal([]);
    expect(problemsOf(documentOf('price'))).to.deep.equal([
      'Breaks clients: GET /items 200.id: is gone',
      'Accepted, but not a break: GET /items 200.price: is gone',
    ]);
  });

  it('refuses breaks without a reason, stale entries and a changed baseline', () => {
    writeRelease([{ ...acceptedBreak, reason: ' ' }]);
    expect(problemsOf(documentOf('id'))).to.deep.equal(['Accepted without a reason: is gone']);
    writeRelease([acceptedBreak]);
    expect(problemsOf(documentOf('id', 'price'))).to.deep.equal([
      'Accepted, but not a break: GET /items 200.price: is gone',
    ]);
    writeRelease();
    writeFileSync(join(folder, 'baseline.json'), JSON.stringify(documentOf('id')));
    expect(problemsOf(documentOf('id')).join()).to.match(/^The baseline differs from the released one/);
  });

  it('accepts a baseline only with a new version and no open breaks', () => {
    writeRelease();
    const before = readFileSync(join(folder, 'baseline.json'), 'utf8');
    const same = { folder, version: '1.0.0' };
    expect(findAcceptanceProblem(same, documentOf('id', 'price'))).to.match(/frozen until the next version/);
    expect(() => acceptRelease(same, documentOf('id', 'price'))).to.throw(/frozen/);
    const next = { folder, version: '1.1.0' };
    expect(problemsOf(documentOf('id', 'price'), '1.1.0').join()).to.match(
      /package.json has 1.1.0: accept a new baseline/,
    );
    expect(() => acceptRelease(next, documentOf('id'))).to.throw('GET /items 200.price: is gone');
    expect(readFileSync(join(folder, 'baseline.json'), 'utf8')).to.equal(before);

    acceptRelease(next, documentOf('id', 'price', 'more'));
    expect(problemsOf(documentOf('id', 'price', 'more'), '1.1.0')).to.deep.equal([]);
    expect(problemsOf(documentOf('id', 'price'), '1.1.0')).to.deep.equal([
      'Breaks clients: GET /items 200.more: is gone',
    ]);
    expect(readFileSync(join(folder, 'baseline.json'), 'utf8')).to.not.include('Words are');
  });

  it('compares nothing before the first release', () => {
    expect(problemsOf(documentOf('id'))).to.deep.equal([]);
    acceptRelease({ folder, version: '1.0.0' }, documentOf('id', 'price'));
    expect(problemsOf(documentOf('id', 'price'))).to.deep.equal([]);
    expect(problemsOf(documentOf('id'))).to.deep.equal(['Breaks clients: GET /items 200.price: is gone']);
  });
});
