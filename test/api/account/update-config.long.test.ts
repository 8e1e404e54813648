import { expect } from 'chai';
import { createServer } from 'node:http';
import { AccountModel } from '../../../src/accounts/account.model.js';
import { updateConfigFor } from '../../../src/api/account/config.js';
import { AuditModel, type AuditEntry } from '../../../src/audit/audit.model.js';
import { deliveries } from '../../../src/webhooks/deliver/delivery.model.js';
import { eventually } from '../../support/eventually.js';
import { uniqueAddress, useApi, type ApiAccount } from '../support/api.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';
import { itRefusesBodies } from '../support/refusals.js';

for (const role of ['buyer', 'seller'] as const) {
  const operation = updateConfigFor(role);
  const path = `/api/${role}/api/config`;
  const wrongUrls = ['https://user:secret@shop.example/hook', 'https://shop.example:25/hook'];

  describe(`POST ${path}`, () => {
    const api = useApi();
    const good = () => ({ path, body: {} });
    // every-operation.long.test.ts covers the other invalid values.
    itRefusesBodies(api, operation, good, { webhook_url: wrongUrls, callback_url: wrongUrls });

    const stored = ({ account }: ApiAccount) => AccountModel.findById(account._id).lean();
    const audit = ({ account }: ApiAccount) =>
      AuditModel.find({ 'subject.id': account._id, action: 'config.update' }).lean<AuditEntry[]>();
    const configEvents = ({ account }: ApiAccount) =>
      deliveries.find({ accountId: account._id, event: 'config.updated' }).toArray();

    it('changes the given settings, keeps the rest and returns the configuration', async () => {
      const account = await api.newAccount(role);
      const { key } = account;
      const first = await api.call({
        path,
        key,
        body: { webhook_url: 'https://shop.example/hook', callback_url: 'https://shop.example/back' },
      });
      expectSuccess(first, operation);
      const second = await api.call({ path, key, body: { rate_limit: 120 } });
      expectSuccess(second, operation);
      expect(second.body.data).to.deep.equal({
        username: account.account.username,
        api_key: key,
        webhook_url: 'https://shop.example/hook',
        callback_url: 'https://shop.example/back',
        ip_whitelist: [],
        rate_limit: 120,
        language: 'en',
        webhook_status: 'enabled',
      });
      const third = await api.call({ path, key, body: { webhook_url: null, callback_url: null } });
      expect(third.body.data).to.include({ webhook_url: null, callback_url: null, rate_limit: 120 });
      const shown = (await api.call({ path, key })).body.data;
      expect(shown).to.include({ webhook_url: null, callback_url: null, rate_limit: 120 });
    });

    it('accepts both bounds of rate_limit and the longest URL, at once', async () => {
      const { key } = await api.newAccount(role);
      const url = `https://shop.example/${'x'.repeat(2_048 - 'https://shop.example/'.length)}`;
      for (const body of [{ rate_limit: 1_000 }, { webhook_url: url }, { rate_limit: 1 }]) {
        expectSuccess(await api.call({ path, key, body }), operation);
      }
      expectFailure(await api.call({ path, key, body: {} }), { status: 429, code: '06' });
    });

    it('stores addresses once, in canonical form, without host bits', async () => {
      const { key } = await api.newAccount(role);
      const ip_whitelist = [
        '0.0.0.0/0',
        '::ffff:10.1.2.3',
        '10.1.2.3',
        '10.9.8.7/8',
        '2001:DB8:0::1',
        '2001:db8::/32',
      ];
      const answer = await api.call({ path, key, body: { ip_whitelist } });
      expect(answer.body.data.ip_whitelist).to.deep.equal([
        '0.0.0.0/0',
        '10.1.2.3',
        '10.0.0.0/8',
        '2001:db8::1',
        '2001:db8::/32',
      ]);
    });

    it("refuses an allowlist without the caller's address with 400/01", async () => {
      const account = await api.newAccount(role);
      const { key } = account;
      const from = uniqueAddress();
      const body = { ip_whitelist: ['203.0.113.7'], rate_limit: 5 };
      const answer = await api.call({ path, key, body, from });
      expectFailure(answer, { status: 400, code: '01', field: 'ip_whitelist' });
      expect(answer.body.message).to.include(from);
      expect(await stored(account)).to.deep.include({ ipWhitelist: [], rateLimit: 300 });
      const both = { ip_whitelist: ['203.0.113.7', from] };
      expectSuccess(await api.call({ path, key, body: both, from: `::ffff:${from}` }), operation);
      expectFailure(await api.call({ path, key, body: {}, from: '203.0.113.8' }), {
        status: 403,
        code: '07',
      });
      expectSuccess(await api.call({ path, key, body: { ip_whitelist: [] }, from }), operation);
      expectSuccess(await api.call({ path, key, body: {}, from: '203.0.113.8' }), operation);
    });

    it('writes one audit entry per change, with actor, address, before and after', async () => {
      const account = await api.newAccount(role);
      const { key } = account;
      const from = uniqueAddress();
      const startedAt = Date.now();
      await api.call({ path, key, body: { rate_limit: 42, callback_url: null }, from });
      await api.call({ path, key, body: { rate_limit: 42 }, from });
      await api.call({ path, key, body: {}, from });
      const [entry, ...more] = await audit(account);
      expect(more).to.deep.equal([]);
      expect(entry).to.deep.include({
        actor: `account:${account.account.username}`,
        from,
        before: { rate_limit: 300 },
        after: { rate_limit: 42 },
      });
      expect(entry?.at.getTime()).to.be.within(startedAt, Date.now());
    });

    it('notifies the old URL of a new webhook_url once, without the new value', async () => {
      const account = await api.newAccount(role);
      const { key } = account;
      await api.call({ path, key, body: { webhook_url: 'https://old.example/hook' } });
      expect(await configEvents(account), 'events without an earlier URL').to.deep.equal([]);
      await api.call({ path, key, body: { webhook_url: 'https://old.example/hook' } });
      await api.call({ path, key, body: { rate_limit: 9 } });
      expect(await configEvents(account), 'events without a changed URL').to.deep.equal([]);
      await api.call({ path, key, body: { webhook_url: 'https://new.example/hook', rate_limit: 10 } });
      const [event, ...more] = await configEvents(account);
      expect(more).to.deep.equal([]);
      expect(event).to.include({ url: 'https://old.example/hook', channel: 'webhook', state: 'due' });
      expect(JSON.parse(event?.body ?? '')).to.deep.include({
        event: 'config.updated',
        data: { changed: ['webhook_url', 'rate_limit'] },
      });
      expect(event?.body).to.not.include('new.example');
    });

    it('5 concurrent changes leave 5 consistent audit entries', async () => {
      const account = await api.newAccount(role);
      const limits = Array.from({ length: 5 }, (_, index) => 400 + index);
      await Promise.all(
        limits.map((rate_limit) =>
          // The changes conflict on one account document. A change that cannot be written in time
          // gets a 503 and is retried.
          eventually('the change succeeds', async () => {
            const answer = await api.call({ path, key: account.key, body: { rate_limit } });
            return answer.status === 200;
          }),
        ),
      );
      const entries = (await audit(account)) as unknown as Record<
        'before' | 'after',
        { rate_limit: number }
      >[];
      const last = (await stored(account))?.rateLimit ?? 0;
      expect(entries.map((each) => each.after.rate_limit)).to.have.members(limits);
      expect([...entries.map((each) => each.before.rate_limit), last]).to.have.members([300, ...limits]);
    });

    it('sends nothing to a URL when saving it', async () => {
      let hits = 0;
      const server = createServer((_request, response) => {
        hits += 1;
        response.end();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      const { key } = await api.newAccount(role);
      const body = { webhook_url: `http://127.0.0.1:${port}/hook` };
      expectSuccess(await api.call({ path, key, body }), operation);
      expect(hits).to.equal(0);
      server.close();
    });
  });
}
