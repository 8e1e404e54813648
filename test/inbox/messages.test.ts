import { expect } from 'chai';
import { startInbox, type RunningInbox } from '../support/inbox.js';
import { post } from './deliver.js';

describe('inbox: messages', () => {
  let inbox: RunningInbox;
  beforeEach(async () => {
    inbox = await startInbox();
  });
  afterEach(() => inbox.stop());

  it('keeps time, path, headers and exact body, oldest first', async () => {
    const raw = '{ "a" : 1.0,"é":"\\u00e9" }\r\n';
    await post(inbox, '/hooks/a', raw, { headers: { 'x-event': 'ping' } });
    await post(inbox, '/hooks/b', 'not JSON');
    const [first, second] = await inbox.messages();
    expect(first).to.include({ path: '/hooks/a', raw, verified: null });
    expect(first?.headers['x-event']).to.equal('ping');
    expect(Date.parse(first?.at ?? '')).to.be.closeTo(Date.now(), 60_000);
    expect(second).to.include({ path: '/hooks/b', raw: 'not JSON' });
  });

  it('filters by ref_id of callbacks and webhooks, by path and by time', async () => {
    await post(inbox, '/hooks/a', '{"ref_id":"r-1","status":"success"}');
    await post(inbox, '/hooks/a/b', '{"event":"transaction.success","data":{"ref_id":"r-1"}}');
    await post(inbox, '/hooks/ab', '{"data":null,"ref_id":"r-2"}');
    const pathsOf = async (query: Parameters<RunningInbox['messages']>[0]) =>
      (await inbox.messages(query)).map(({ path }) => path);
    expect(await pathsOf({ ref_id: 'r-1' })).to.deep.equal(['/hooks/a', '/hooks/a/b']);
    expect(await pathsOf({ ref_id: 'r-2' })).to.deep.equal(['/hooks/ab']);
    expect(await pathsOf({ path: '/hooks/a' })).to.deep.equal(['/hooks/a', '/hooks/a/b']);
    expect(await pathsOf({ since: '2020-01-01T00:00:00Z' })).to.have.lengthOf(3);
    expect(await pathsOf({ since: new Date(Date.now() + 60_000).toISOString() })).to.be.empty;
    expect((await fetch(`${inbox.url}/messages?since=yesterday`)).status).to.equal(400);
  });

  it('refuses a body over one megabyte and stores nothing', async () => {
    const response = await post(inbox, '/hooks/a', 'x'.repeat(1_000_001)).catch(() => null);
    expect(response?.status ?? 413).to.equal(413);
    expect(await inbox.messages()).to.be.empty;
  });

  it('deletes all messages on DELETE', async () => {
    await post(inbox, '/hooks/a', '{}');
    await inbox.clear();
    expect(await inbox.messages()).to.be.empty;
  });

  it('waits for later messages and reports a timeout', async () => {
    const waiting = inbox.waitForCount(2, ({ path }) => path === '/hooks/b');
    await post(inbox, '/hooks/b', '1');
    await post(inbox, '/hooks/a', '2');
    await post(inbox, '/hooks/b', '3');
    expect((await waiting).map(({ raw }) => raw)).to.deep.equal(['1', '3']);
    const mistake = await inbox
      .waitFor(({ path }) => path === '/hooks/c', 100)
      .catch((error: unknown) => String(error));
    expect(mistake).to.include('0 of 1 awaited messages came in 100 ms (3 in all)');
  });

  it('delays the response of GET /messages until the first matching message', async () => {
    const startedAt = performance.now();
    const reading = fetch(`${inbox.url}/messages?path=/hooks/b&wait_ms=10000`);
    await post(inbox, '/hooks/a', '1');
    await post(inbox, '/hooks/b', '2');
    expect(await (await reading).json()).to.have.lengthOf(1);
    const none = await fetch(`${inbox.url}/messages?path=/hooks/c&wait_ms=50`);
    expect(await none.json()).to.be.empty;
    expect(performance.now() - startedAt).to.be.within(45, 5_000);
  });

  it('serves a page that loads no external resources', async () => {
    const response = await fetch(inbox.url);
    const html = await response.text();
    expect(response.headers.get('content-type')).to.include('text/html');
    expect(response.headers.get('content-security-policy')).to.include("default-src 'none'");
    expect(html).not.to.match(/(src|href)\s*=|https?:\/\//);
  });

  it('returns 304 without a new delivery and 200 after one', async () => {
    const read = (tag: string) => fetch(`${inbox.url}/messages`, { headers: { 'if-none-match': tag } });
    const tag = (await read('')).headers.get('etag') ?? '';
    expect((await read(tag)).status).to.equal(304);
    await post(inbox, '/hooks/a', '{}');
    expect((await read(tag)).status).to.equal(200);
  });
});
