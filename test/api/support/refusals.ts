import { expect } from 'chai';
import { generateApiKey } from '../../../src/accounts/api-key.js';
import type { AnyOperation } from '../../../src/api/contract/operation.js';
import { type ApiCall, type TestApi, uniqueAddress } from './api.js';
import { expectFailure } from './expect-answer.js';

/** A call of the operation that succeeds when the key is valid. */
export type GoodCall = Pick<ApiCall, 'path' | 'body'>;

/**
 * Tests the refusals that all authenticated operations share
 * (docs/reference/api/authentication.md#access-rules).
 */
export function itRefusesUnauthorizedCalls(
  api: TestApi,
  operation: AnyOperation,
  good: () => GoodCall,
): void {
  const method = operation.method.toUpperCase() as 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  const call = (with_: Partial<ApiCall>) => api.call({ ...good(), method, ...with_ });
  const other = operation.role === 'buyer' ? 'seller' : 'buyer';

  it('no key: 401/07', async () => {
    expectFailure(await call({}), { status: 401, code: '07' });
  });

  it('a mistyped, unknown or empty key: 401/07', async () => {
    for (const key of ['nonsense', generateApiKey(operation.role, 'test'), '', 'at_nonsense']) {
      expectFailure(await call({ key }), { status: 401, code: '07' });
    }
  });

  it(`a ${other}'s key: 403/07`, async () => {
    const { key } = await api.newAccount(other);
    expectFailure(await call({ key }), { status: 403, code: '07', message: /surface/ });
  });

  it('a suspended account: 403/07', async () => {
    const { key } = await api.newAccount(operation.role, { status: 'suspended' });
    expectFailure(await call({ key }), { status: 403, code: '07', message: /suspended/ });
  });

  it('an address that is not on the allowlist: 403/07, and the message names it', async () => {
    const { key } = await api.newAccount(operation.role, { ipWhitelist: ['203.0.113.7'] });
    const from = uniqueAddress();
    const answer = await call({ key, from });
    expectFailure(answer, { status: 403, code: '07' });
    expect(answer.body.message).to.include(from);
  });

  it('over the rate limit: 429/06 with Retry-After', async () => {
    const { key } = await api.newAccount(operation.role, { rateLimit: 1 });
    await call({ key });
    const answer = await call({ key });
    expectFailure(answer, { status: 429, code: '06' });
    expect(answer.headers).to.include({ 'ratelimit-limit': '1', 'ratelimit-remaining': '0' });
  });

  it('another method: 405/01 with Allow', async () => {
    const { key } = await api.newAccount(operation.role);
    // Choose a method that no operation on this path has.
    const other = operation.path.endsWith('/webhooks/:id') ? 'PUT' : 'DELETE';
    const answer = await api.call({ path: good().path, key, method: other });
    expectFailure(answer, { status: 405, code: '01' });
    expect(String(answer.headers['allow']).split(', ')).to.include(method);
  });

  if (operation.method !== 'get') {
    it('a body that is not a JSON object, too large or of another type: 400, 413, 415', async () => {
      const { key } = await api.newAccount(operation.role);
      expectFailure(await call({ key, raw: '{"a":' }), { status: 400, code: '01' });
      expectFailure(await call({ key, raw: '[]' }), { status: 400, code: '01' });
      expectFailure(await call({ key, raw: JSON.stringify({ a: 'x'.repeat(102_400) }) }), {
        status: 413,
        code: '01',
      });
      expectFailure(await call({ key, raw: 'a=1', headers: { 'content-type': 'text/plain' } }), {
        status: 415,
        code: '01',
      });
    });
  }
}

/** Values that no text field accepts. */
export const notText: unknown[] = [1, true, null, {}, [], ['a'], { $gt: '' }];
/** Values that no integer field accepts. */
export const notWhole: unknown[] = ['1', '', true, null, {}, [1], 1.5, 1e400, { $gt: 0 }];

/**
 * Tests that each value on its own is refused with 400/01 and that the response names the field.
 * @param bad The refused values by field. `undefined` leaves the field out.
 */
export function itRefusesBodies(
  api: TestApi,
  operation: AnyOperation,
  good: () => GoodCall,
  bad: Record<string, unknown[]>,
): void {
  for (const [field, values] of Object.entries(bad)) {
    it(`${field}: ${values.length} wrong values are refused with 400/01`, async () => {
      const { key } = await api.newAccount(operation.role);
      for (const value of values) {
        const body = { ...(good().body as object), [field]: value };
        const answer = await api.call({ ...good(), key, method: 'POST', body });
        expect(answer.status, `${field} = ${JSON.stringify(value)}`).to.equal(400);
        expectFailure(answer, { status: 400, code: '01', field });
      }
    });
  }
}
