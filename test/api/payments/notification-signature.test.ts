import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { verifyNotification } from '../../../src/api/payments/notify-routes.js';

const secret = 'a-secret-of-the-bank-with-32-characters';
const raw = Buffer.from('{"payment_id":"p1","username":"buyer","ref_id":"r1","amount":60000}');

describe('the signature of a payment notification', () => {
  const nowS = () => Math.floor(Date.now() / 1_000);
  const sign = (timestamp: string, key = secret) =>
    `sha256=${createHmac('sha256', key).update(`${timestamp}.`).update(raw).digest('hex')}`;
  const verify = (timestamp: string | undefined, signature: string | undefined) => () => {
    verifyNotification({ raw, timestamp, signature }, secret);
  };

  it('is accepted with the secret, for this body and a fresh timestamp', () => {
    const timestamp = String(nowS() - 290);
    expect(verify(timestamp, sign(timestamp))).not.to.throw();
  });

  it('is refused if it is absent, malformed, of another key, or for another timestamp', () => {
    const timestamp = String(nowS());
    const hex = sign(timestamp).slice('sha256='.length);
    const refused: [string, string | undefined, string | undefined][] = [
      ['no signature', timestamp, undefined],
      ['an empty signature', timestamp, ''],
      ['an empty value', timestamp, 'sha256='],
      ['no prefix', timestamp, hex],
      ['a short signature', timestamp, `sha256=${hex.slice(0, 32)}`],
      ['another key', timestamp, sign(timestamp, 'another-secret-of-nobody-32-characters')],
      ['another timestamp', String(nowS() - 1), sign(timestamp)],
      ['no timestamp', undefined, sign('')],
      ['an old timestamp', String(nowS() - 302), sign(String(nowS() - 302))],
      ['a future timestamp', String(nowS() + 302), sign(String(nowS() + 302))],
    ];
    for (const [what, when, signature] of refused) {
      expect(verify(when, signature), what).to.throw().with.property('reason', 'invalid_signature');
    }
  });
});
