/**
 * Webhook endpoints are created, changed and removed: permissions, limits, notifications, and the
 * endpoint that belongs to webhook_url.
 */
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { limits } from '../../config/limits.js';
import { AccountModel } from '../../src/accounts/account.model.js';
import { AuditModel } from '../../src/audit/audit.model.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { expectFailure } from '../api/support/expect-answer.js';
import { useEndpoints } from './support/endpoints.js';

describe('changes of webhook endpoints', () => {
  const { api, stage, hook, get, post, rowsOf, stored, turn, patch, remove, config, listed, made, event } =
    useEndpoints();

  it('keeps webhook_url and the default endpoint in sync', async () => {
    const second = await made({ url: hook('second') });
    const [first] = await listed();
    expect(first).to.include({
      id: 'default',
      url: stage.owner.account.webhookUrl,
      secret: stage.owner.webhookSecret,
    });
    const twin = await config({ webhook_url: second.url });
    expect([twin.status, twin.body.code], 'duplicate URL').to.deep.equal([409, '01']);
    await config({ webhook_url: hook('by-config') });
    expect((await listed()).map(({ id, url }) => [id, url])).to.deep.equal([
      ['default', (await stored()).webhookUrl],
      [second.id, second.url],
    ]);
    const url = hook('by-endpoint');
    const changed = await patch('default', { url, events: ['transaction.failed'], description: 'Shop' });
    expect(changed.body.data).to.include({ id: 'default', url, description: 'Shop', in_flight_limit: null });
    expect((await patch('default', { in_flight_limit: 8 })).body.data).to.include({
      url,
      in_flight_limit: 8,
    });
    expect((await stored()).webhookSettings).to.deep.include({ description: 'Shop', inFlightLimit: 8 });
    expect((await config()).body.data.webhook_url).to.equal(url);
    expect((await event('success')).map(({ url: to }) => to)).to.deep.equal([second.url]);
    await remove('default');
    expect((await config()).body.data.webhook_url).to.equal(null);
    expect((await listed()).map(({ id }) => id)).to.deep.equal([second.id]);
    const again = await made({ url: hook('again') });
    expect(again).to.include({ id: 'default', secret: stage.owner.webhookSecret });
    expect((await config()).body.data.webhook_url).to.equal(again.url);
    await patch('default', { events: ['deposit.*'] });
    await config({ webhook_url: null });
    await config({ webhook_url: hook('anew') });
    expect((await listed())[0], 'default endpoint after a new webhook_url').to.deep.include({
      id: 'default',
      events: ['*'],
      description: null,
    });
    const rotated = await post('/default/secret/rotate');
    const shown = (await config()).body.data.webhook_secret as string;
    expect([rotated.body.data.secret, (await get('/default')).body.data.secret]).to.deep.equal([
      shown,
      shown,
    ]);
  });

  it('refuses unknown events, forbidden URLs and duplicate URLs', async () => {
    const wrong = await post('', { url: hook('x'), events: ['transaction.success', 'transaction.lost'] });
    expectFailure(wrong, { status: 400, code: '01', field: 'events', message: /transaction\.lost/ });
    expectFailure(await post('', { url: 'https://user:secret@shop.example/' }), {
      status: 400,
      code: '01',
      field: 'url',
    });
    const other = await made({ url: hook('other') });
    // Use two other spellings of the first URL.
    const [roundabout, encoded] = ['/x/../other', '/%6fther'].map((path) =>
      other.url.replace('/other', path),
    );
    for (const url of [other.url, `${other.url}#there`, roundabout, encoded]) {
      for (const refused of [await post('', { url }), await patch('default', { url })]) {
        expectFailure(refused, { status: 409, code: '01', message: new RegExp(other.id) });
      }
    }
    expectFailure(await patch(other.id, { version: '2' }), { status: 400, code: '01', field: 'version' });
    expect(await listed()).to.have.length(2);
  });

  it(`allows at most ${limits.webhookEndpointsMax} endpoints, also for concurrent calls`, async () => {
    const wanted = limits.webhookEndpointsMax + 2;
    const answers = await Promise.all(
      Array.from({ length: wanted }, (_each, index) => post('', { url: hook(`many-${index}`) })),
    );
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused).to.have.length(wanted - (limits.webhookEndpointsMax - 1));
    refused.forEach((each) => expectFailure(each, { status: 409, code: '01', message: /at most/ }));
    expect(await listed()).to.have.length(limits.webhookEndpointsMax);
    const [, second] = await listed();
    await remove(second?.id ?? '');
    await made({ url: hook('instead') });
  });

  it('each change notifies all previous endpoints, is audited and delays settlements', async () => {
    const quiet = await made({ url: hook('quiet'), events: ['deposit.*'] });
    const changes: [string, () => Promise<{ status: number }>, string[]][] = [
      ['webhook-endpoint.create', () => post('', { url: hook('third') }), ['webhook_endpoints']],
      ['webhook-endpoint.update', () => patch(quiet.id, { events: ['*'] }), ['webhook_endpoints']],
      ['webhook-endpoint.update', () => patch('default', { url: hook('new') }), ['webhook_url']],
      ['webhook-secret.rotate', () => post(`/${quiet.id}/secret/rotate`), ['webhook_secret']],
      ['webhook-endpoint.remove', () => remove(quiet.id), ['webhook_endpoints']],
    ];
    for (const [action, change, fields] of changes) {
      await writeAndInvalidate([AccountModel], [stage.owner.account._id], (rows) =>
        rows.updateOne({ _id: stage.owner.account._id }, { $set: { guardedSince: null } }),
      );
      const before = await listed();
      const known = (await rowsOf({ event: 'config.updated' })).map(({ _id }) => _id);
      const entries = { 'subject.id': stage.owner.account._id, action };
      const audited = await AuditModel.countDocuments(entries);
      expect((await change()).status, action).to.be.oneOf([200, 201]);
      const notices = await rowsOf({ event: 'config.updated', _id: { $nin: known } });
      expect(notices.map(({ url }) => url)).to.have.members(before.map(({ url }) => url));
      for (const notice of notices) {
        expect(JSON.parse(notice.body)).to.nested.include({ 'data.changed[0]': fields[0] });
      }
      await turn(notices);
      for (const notice of notices) {
        const request = stage.receiver.received.find(({ headers }) => headers['webhook-id'] === notice._id);
        const secret = before.find(({ url }) => url === notice.url)?.secret ?? '';
        new Webhook(secret).verify(request?.raw ?? '', request?.headers ?? {});
      }
      expect((await stored()).guardedSince, action).to.be.instanceOf(Date);
      expect(await AuditModel.countDocuments(entries)).to.equal(audited + 1);
      const [entry] = await AuditModel.find(entries).sort({ at: -1 }).limit(1).lean();
      expect(JSON.stringify(entry)).to.not.match(/whsec_|secretSealed/);
    }
    await writeAndInvalidate([AccountModel], [stage.owner.account._id], (rows) =>
      rows.updateOne({ _id: stage.owner.account._id }, { $set: { guardedSince: null } }),
    );
    await patch('default', { description: 'no more than a word' });
    expect((await stored()).guardedSince).to.equal(null);
  });

  it("returns 404/02 for another account's endpoint and does not change it", async () => {
    const other = await made({ url: hook('other') });
    const { key } = await api.newAccount('buyer', { webhookUrl: hook('stranger') });
    const answers = await Promise.all([
      get(`/${other.id}`, key),
      patch(other.id, { url: hook('theirs') }, key),
      remove(other.id, key),
      post(`/${other.id}/test`, {}, key),
      post(`/${other.id}/enable`, {}, key),
      post(`/${other.id}/secret/rotate`, {}, key),
    ]);
    answers.forEach((each) => expectFailure(each, { status: 404, code: '02' }));
    expect((await get(`/${other.id}`)).body.data).to.deep.equal(other);
  });

  it('a key in its overlap may test endpoints, but not see or change them', async () => {
    const other = await made({ url: hook('other') });
    const old = stage.owner.key;
    const rotated = await api.call({ path: '/api/buyer/api/keys/rotate', key: old, body: {} });
    stage.owner.key = String(rotated.body.data.api_key);
    const refused = await Promise.all([
      get('', old),
      get(`/${other.id}`, old),
      post('', { url: hook('theirs') }, old),
      patch(other.id, { url: hook('theirs') }, old),
      remove(other.id, old),
      post(`/${other.id}/enable`, {}, old),
      post(`/${other.id}/secret/rotate`, {}, old),
    ]);
    refused.forEach((each) => expectFailure(each, { status: 403, code: '07', message: /current key/ }));
    const tested = await post(`/${other.id}/test`, {}, old);
    expect(tested.body.data.delivered).to.equal(true);
    expect((await listed()).slice(1)).to.deep.equal([other]);
  });

  it('does not treat call names as endpoint ids', async () => {
    for (const name of ['test', 'replay', 'enable', 'deliveries']) {
      const answer = await api.call({
        method: 'DELETE',
        path: `/api/buyer/webhooks/${name}`,
        key: stage.owner.key,
      });
      expect(answer.status, name).to.equal(405);
    }
  });
});
