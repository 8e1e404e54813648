import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { startInbox, type RunningInbox } from '../support/inbox.js';
import { post } from './deliver.js';

describe('inbox: responses', () => {
  let inbox: RunningInbox;
  beforeEach(async () => {
    inbox = await startInbox();
  });
  afterEach(() => inbox.stop());

  it('acknowledges any path with {"status":"received"} and stores the delivery', async () => {
    for (const path of ['/hooks/a', '/api/reseller/callback', '/', '/messages', '/healthz']) {
      const response = await post(inbox, path, '{}');
      expect(response.status).to.equal(200);
      expect(await response.json()).to.deep.equal({ status: 'received' });
    }
    expect((await inbox.messages()).map(({ path }) => path)).to.include('/messages');
  });

  it('fails with the configured status, headers, path and count', async () => {
    await inbox.control({
      answers: { a: { fail_rate: 1, fail_status: 429, fail_headers: { 'retry-after': '7' }, times: 2 } },
    });
    const first = await post(inbox, '/hooks/a/below', '{}');
    expect([first.status, first.headers.get('retry-after')]).to.deep.equal([429, '7']);
    const statuses = [];
    for (const path of ['/hooks/ab', '/hooks/a', '/hooks/a']) {
      statuses.push((await post(inbox, path, '{}')).status);
    }
    expect(statuses).to.deep.equal([200, 429, 200]);
    expect((await inbox.messages()).map(({ answered }) => answered)).to.deep.equal([429, 200, 429, 200]);
  });

  it('redirects on request', async () => {
    const fail_headers = { location: 'http://127.0.0.1:1/' };
    await inbox.control({ answers: { '*': { fail_rate: 1, fail_status: 302, fail_headers } } });
    const response = await post(inbox, '/hooks/a', '{}');
    expect([response.status, response.headers.get('location')]).to.deep.equal([302, 'http://127.0.0.1:1/']);
  });

  it('hangs on request, stores the delivery and exits with 0 on SIGTERM', async () => {
    await inbox.control({ answers: { '*': { hang_rate: 1 } } });
    const waiting = post(inbox, '/hooks/a', '{"n":1}').catch(() => 'cut');
    expect(await inbox.waitFor(({ path }) => path === '/hooks/a')).to.include({
      answered: 'hang',
      raw: '{"n":1}',
    });
    expect(await inbox.stop()).to.equal(0);
    expect(await waiting).to.equal('cut');
  });

  it('delays its response on request', async () => {
    await inbox.control({ answers: { a: { delay_ms: 200 } } });
    const startedAt = performance.now();
    expect((await post(inbox, '/hooks/a', '{}')).status).to.equal(200);
    expect(performance.now() - startedAt).to.be.greaterThan(195);
  });

  it('returns 2xx without or with a negative acknowledgement on request', async () => {
    await inbox.control({ answers: { a: { ack: null }, b: { ack: 'rejected' } } });
    const without = await post(inbox, '/hooks/a', '{}');
    expect([without.status, await without.text()]).to.deep.equal([200, '']);
    expect(await (await post(inbox, '/hooks/b', '{}')).json()).to.deep.equal({ status: 'rejected' });
  });

  it('fails and hangs for the configured shares of deliveries', async () => {
    await inbox.control({ answers: { '*': { fail_rate: 0.3, hang_rate: 0.05 } } });
    // Keep every client waiting until all deliveries have arrived, even on a busy machine.
    const arrived = new AbortController();
    const send = () =>
      fetch(`${inbox.url}/hooks/a`, { method: 'POST', body: '{}', signal: arrived.signal }).catch(() => null);
    const sent = Array.from({ length: 400 }, send);
    await eventually('all messages arrive', async () => (await inbox.messages()).length === sent.length);
    arrived.abort();
    await Promise.all(sent);
    const answered = (await inbox.messages()).map((message) => message.answered);
    expect(answered).to.have.lengthOf(sent.length);
    expect(answered.filter((one) => one === 500).length).to.be.within(80, 160);
    expect(answered.filter((one) => one === 'hang').length).to.be.within(5, 40);
  });

  it('responds normally again after DELETE /control', async () => {
    await inbox.control({ answers: { '*': { fail_rate: 1 } } });
    await fetch(`${inbox.url}/control`, { method: 'DELETE' });
    expect((await post(inbox, '/hooks/a', '{}')).status).to.equal(200);
  });

  it('refuses unknown settings and changes nothing', async () => {
    const answers = { a: { fail_rate: 3, colour: 'red' } };
    const response = await fetch(`${inbox.url}/control`, {
      method: 'POST',
      body: JSON.stringify({ answers }),
    });
    expect(response.status).to.equal(400);
    expect(await response.text())
      .to.include('answers.a.fail_rate')
      .and.include('answers.a.colour');
    expect((await inbox.control({})).answers).to.deep.equal({});
  });

  it('returns 405 for methods other than POST', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect((await fetch(`${inbox.url}/hooks/a`, { method })).status, method).to.equal(405);
    }
    expect(await inbox.messages()).to.be.empty;
  });
});
