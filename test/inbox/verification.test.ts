import { expect } from 'chai';
import { startInbox, type RunningInbox } from '../support/inbox.js';
import { newSecret, post, standardHeaders, signBody } from './deliver.js';

describe('inbox: signatures', () => {
  const secret = newSecret();
  // The body contains non-ASCII characters and whitespace that a parser would not preserve. The
  // signature covers the exact bytes.
  const raw = '{"event":"transaction.success",  "data":{"ref_id":"é-1"}}\n';
  let inbox: RunningInbox;
  before(async () => {
    inbox = await startInbox({ secrets: { shop: secret } });
  });
  after(() => inbox.stop());
  beforeEach(() => inbox.clear());

  async function verifiedOf(
    path: string,
    headers: Record<string, string>,
    body = raw,
  ): Promise<boolean | null> {
    await post(inbox, path, body, { headers });
    return (await inbox.waitFor((message) => message.path === path)).verified;
  }

  it('accept x-signature and Standard Webhooks, alone and together', async () => {
    const own = { 'x-signature': signBody(secret, raw) };
    const standard = standardHeaders(secret, raw);
    expect(await verifiedOf('/hooks/shop/1', own)).to.be.true;
    expect(await verifiedOf('/hooks/shop/2', standard)).to.be.true;
    expect(await verifiedOf('/hooks/shop/3', { ...own, ...standard })).to.be.true;
  });

  it('refuse an invalid signature next to a valid one', async () => {
    const own = { 'x-signature': signBody(secret, raw) };
    const standard = standardHeaders(secret, raw);
    const wrong = newSecret();
    expect(await verifiedOf('/hooks/shop/1', { ...own, ...standardHeaders(wrong, raw) })).to.be.false;
    expect(await verifiedOf('/hooks/shop/2', { ...standard, 'x-signature': signBody(wrong, raw) })).to.be
      .false;
  });

  it('refuse a changed byte and a delivery without a signature', async () => {
    const headers = { 'x-signature': signBody(secret, raw), ...standardHeaders(secret, raw) };
    expect(await verifiedOf('/hooks/shop/1', headers, raw.replace('é', 'e'))).to.be.false;
    expect(await verifiedOf('/hooks/shop/2', {})).to.be.false;
    expect(await verifiedOf('/hooks/shop/3', { 'x-signature': 'sha256=' })).to.be.false;
    expect(await verifiedOf('/hooks/shop/4', { 'webhook-signature': 'v1,AAAA' })).to.be.false;
  });

  it('report each signature as right, wrong or missing', async () => {
    await post(inbox, '/hooks/shop', raw, { headers: { 'x-signature': signBody(newSecret(), raw) } });
    const { verification } = await inbox.waitFor(() => true);
    expect(verification).to.deep.equal({ x_signature: 'wrong', standard_webhooks: 'missing' });
  });

  it('accept two signatures and two secrets during a rotation', async () => {
    const next = newSecret();
    const standard = standardHeaders(secret, raw);
    const signatures = [standardHeaders(next, raw), standard].map((headers) => headers['webhook-signature']);
    const both = {
      ...standard,
      'webhook-signature': signatures.join(' '),
      'x-signature': `${signBody(next, raw)} ${signBody(secret, raw)}`,
    };
    expect(await verifiedOf('/hooks/shop', both)).to.be.true;
    await inbox.control({ secrets: { rotating: [secret, next] } });
    expect(await verifiedOf('/hooks/rotating', { 'x-signature': signBody(next, raw) })).to.be.true;
  });

  it('refuse a timestamp older than five minutes unless disabled', async () => {
    const old = standardHeaders(secret, raw, new Date(Date.now() - 400_000));
    expect(await verifiedOf('/hooks/shop/1', old)).to.be.false;
    await inbox.control({ timestamp_tolerance_s: null });
    expect(await verifiedOf('/hooks/shop/2', old)).to.be.true;
    await inbox.control({ timestamp_tolerance_s: 300 });
  });

  it('use the secret of the closest path, the account name, or *', async () => {
    const [inner, rest] = [newSecret(), newSecret()];
    const signed = (by: string) => ({ 'x-signature': signBody(by, raw) });
    expect(await verifiedOf('/hooks/stranger', signed(secret))).to.be.null;
    await inbox.control({ secrets: { '/hooks/shop/inner/': inner, '*': rest } });
    expect(await verifiedOf('/hooks/shop/outer', signed(secret))).to.be.true;
    expect(await verifiedOf('/hooks/shop/inner', signed(inner))).to.be.true;
    expect(await verifiedOf('/hooks/shop/inner/x', signed(secret))).to.be.false;
    expect(await verifiedOf('/hooks/shopping', signed(rest))).to.be.true;
    await inbox.control({ secrets: { '/hooks/shop/inner': null, '*': null } });
    expect(await verifiedOf('/hooks/shop/inner/y', signed(secret))).to.be.true;
  });

  it('are configured without ever showing a secret', async () => {
    const shown = await inbox.control({});
    expect(shown.secrets).to.include('/hooks/shop');
    expect(JSON.stringify(shown)).not.to.include(secret);
    const mistake = await fetch(`${inbox.url}/control`, {
      method: 'POST',
      body: JSON.stringify({ secrets: { shop: { value: secret } } }),
    });
    expect(mistake.status).to.equal(400);
    expect(await mistake.text()).not.to.include(secret);
  });
});
