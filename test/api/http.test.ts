import { expect } from 'chai';
import supertest from 'supertest';
import { startStack, type Stack } from '../support/stack.js';

describe('HTTP behaviour of the web process', () => {
  let stack: Stack;
  let key: string;
  const call = () => supertest(stack.baseUrl);

  before(async () => {
    stack = await startStack();
    key = (await stack.seed())['buyer']?.api_key ?? '';
  });
  after(() => stack.stop());

  it('serves /healthz and /readyz while MongoDB and Redis are available', async () => {
    await call().get('/healthz').expect(200, { status: 'ok' });
    await call().get('/readyz').expect(200, { status: 'ok', mongodb: true, redis: true });
  });

  it('gives each response a request id and accepts a valid one from the caller', async () => {
    const own = await call().get('/nothing').set('x-request-id', 'caller-12345678');
    expect(own.headers['x-request-id']).to.equal('caller-12345678');
    expect(own.body.request_id).to.equal('caller-12345678');
    const strange = await call().get('/nothing').set('x-request-id', 'a b\tc');
    expect(strange.headers['x-request-id']).to.match(/^[0-9a-f]{32}$/);
    // Request ids appear in logs, jobs and traces. An id that contains an API key is therefore
    // replaced.
    for (const key of [
      'bk_test_0123456789abcdefghij',
      'Bearer.sk_live_abcdef',
      'x.at_0123456789abcdefghijkl',
    ]) {
      const secret = await call().get('/nothing').set('x-request-id', key);
      expect(secret.headers['x-request-id']).to.match(/^[0-9a-f]{32}$/);
    }
  });

  it('sets HSTS, nosniff, CSP and same-origin headers, and no CORS header', async () => {
    const answers = [
      await call().post('/api/buyer/balance').expect(401),
      await call().get('/api/buyer/nothing').expect(404),
      await call().get('/openapi.json').expect(200),
    ];
    for (const { headers } of answers) {
      const [, age = ''] =
        /^max-age=(\d+); includeSubDomains$/.exec(headers['strict-transport-security'] ?? '') ?? [];
      expect(Number(age)).to.be.at.least(31_536_000);
      expect(headers).to.include({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'SAMEORIGIN' });
      expect(headers['content-security-policy']).to.match(/default-src 'self'/);
      expect(headers['cross-origin-resource-policy']).to.equal('same-origin');
      expect(headers).to.not.have.property('access-control-allow-origin');
    }
    expect(answers.slice(0, 2).map(({ headers }) => headers['cache-control'])).to.deep.equal([
      'no-store',
      'no-store',
    ]);
  });

  it('refuses an unknown path with 404/02 and shows no internals', async () => {
    const answer = await call().get('/api/buyer/nothing').expect(404);
    expect(answer.body).to.include({ status: 'error', code: '02', data: null });
    expect(answer.headers).not.to.have.property('x-powered-by');
  });

  it('refuses a wrong method on a known path with 405 and Allow', async () => {
    const answer = await call().get('/api/buyer/balance').expect(405);
    expect(answer.headers['allow']).to.equal('POST');
    expect(answer.body).to.include({ status: 'error', code: '01' });
  });

  const bodies: [string, string, string, number][] = [
    ['malformed JSON', 'application/json', '{"a":', 400],
    ['a JSON array', 'application/json', '[]', 400],
    ['a JSON string', 'application/json', '"x"', 400],
    ['a content type other than JSON', 'text/plain', 'amount=1', 415],
    ['more than 100 kB', 'application/json', JSON.stringify({ ref_id: 'x'.repeat(102_400) }), 413],
  ];
  for (const [what, type, body, status] of bodies) {
    it(`refuses ${what} with ${status}/01`, async () => {
      const answer = await call()
        .post('/api/buyer/deposit')
        .set('authorization', `Bearer ${key}`)
        .set('content-type', type)
        .send(body);
      expect(answer.status).to.equal(status);
      expect(answer.body).to.include({ status: 'error', code: '01', data: null });
    });
  }

  it('names each invalid field once', async () => {
    for (const [path, fields] of [
      ['/api/buyer/deposits?limit=x&start_date=1', ['limit', 'start_date']],
      ['/api/buyer/statement?start_date=x', ['start_date']],
    ] as const) {
      const { body } = await call().get(path).set('authorization', `Bearer ${key}`).expect(400);
      const named = (body.errors as { field: string }[]).map(({ field }) => field);
      expect(named.sort(), path).to.deep.equal(fields);
      expect(body.message.split('; '), path).to.have.length(fields.length);
    }
  });

  it('accepts an empty body if every field is optional', async () => {
    await call().post('/api/buyer/transactions').set('authorization', `Bearer ${key}`).expect(200);
  });
});
