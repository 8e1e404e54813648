/** packages/client-node rejects an invalid call before it sends anything. */
import { expect } from 'chai';
import { createClient } from '../../packages/client-node/src/client.js';

describe('packages/client-node/src/call.ts', () => {
  it('names an unknown call and a wrong path parameter before it sends anything', async () => {
    const topup = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'none', attemptsMax: 1 });
    const call = topup.call as (id: string, input?: object) => Promise<unknown>;
    const messageOf = (made: Promise<unknown>) =>
      made.then(
        () => expect.fail('it was sent'),
        (error: unknown) => {
          expect(error).to.be.instanceOf(TypeError);
          return (error as TypeError).message;
        },
      );
    for (const name of ['nope', 'constructor', '']) {
      expect(await messageOf(call(name))).to.equal(
        `Unknown call "${name}". Use an operationId of /openapi.json`,
      );
    }
    for (const id of ['.', '..']) {
      expect(await messageOf(call('getSettlement', { path: { id } }))).to.equal(
        `id of /api/seller/settlements/{id} cannot be "${id}"`,
      );
    }
    expect(await messageOf(call('downloadBuyerReport', { path: { id: 'x' } }))).to.equal(
      'downloadBuyerReport returns a file: use download',
    );
    expect(await messageOf(call('getSettlement'))).to.equal('id of /api/seller/settlements/{id} is missing');
  });
});
