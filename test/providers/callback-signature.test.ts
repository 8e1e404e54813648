import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import type { ProviderConnection } from '../../src/providers/adapter.js';
import { getAdapter } from '../../src/providers/get-adapter.js';

const raw = Buffer.from('{"data":{"ref_id":"p1-1","status":"Sukses"}}');
const kinds = [
  { kind: 'digiflazz', header: 'x-hub-signature', algorithm: 'sha1' },
  { kind: 'h2h', header: 'x-signature', algorithm: 'sha256' },
] as const;

for (const { kind, header, algorithm } of kinds) {
  describe(`the signature of a callback from ${kind}`, () => {
    const adapter = getAdapter(kind);
    const sign = (key: string) => `${algorithm}=${createHmac(algorithm, key).update(raw).digest('hex')}`;

    for (const callbackSecret of ['of the callbacks', null]) {
      it(
        callbackSecret ? 'is made with the callback secret' : 'is made with the secret if no other is set',
        () => {
          const connection: ProviderConnection = {
            sellerId: 's',
            baseUrl: 'http://127.0.0.1:9',
            username: 'us',
            secret: 'of the calls',
            callbackSecret,
          };
          const isSigned = (value?: string, body = raw) =>
            adapter.isCallbackSigned(connection, body, value === undefined ? {} : { [header]: value });
          const right = sign(callbackSecret ?? connection.secret);
          expect(isSigned(right)).to.equal(true);
          expect(isSigned(), 'without a header').to.equal(false);
          expect(isSigned(''), 'an empty header').to.equal(false);
          expect(isSigned(`${algorithm}=`), 'an empty signature').to.equal(false);
          expect(isSigned(right.slice(algorithm.length + 1)), 'without its prefix').to.equal(false);
          expect(isSigned(sign('of nobody')), 'another key').to.equal(false);
          expect(isSigned(right, Buffer.from(`${raw.toString()} `)), 'another body').to.equal(false);
          if (callbackSecret) {
            expect(isSigned(sign(connection.secret)), 'the secret of the calls').to.equal(false);
          }
        },
      );
    }
  });
}
