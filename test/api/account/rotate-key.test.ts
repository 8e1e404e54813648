import { expect } from 'chai';
import { ApiKeyModel } from '../../../src/accounts/api-key.model.js';
import { isWellFormedApiKey } from '../../../src/accounts/api-key.js';
import { rotateKeyFor } from '../../../src/api/account/rotate-key.js';
import { AuditModel } from '../../../src/audit/audit.model.js';
import { useApi } from '../support/api.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';
import { itRefusesBodies, notWhole } from '../support/refusals.js';

for (const role of ['buyer', 'seller'] as const) {
  const operation = rotateKeyFor(role);
  const path = `/api/${role}/api/keys/rotate`;
  const configPath = `/api/${role}/api/config`;

  describe(`POST ${path}`, () => {
    const api = useApi();
    const good = () => ({ path, body: {} });
    itRefusesBodies(api, operation, good, { overlap_minutes: [...notWhole, -1, 1_441] });

    const rotate = (key: string, body?: object) =>
      api.call({ path, key, method: 'POST', ...(body && { body }) });

    it('returns a new key; the old one works for 60 minutes by default', async () => {
      const { key } = await api.newAccount(role);
      const answer = await rotate(key);
      expectSuccess(answer, operation);
      const { api_key: next, previous_valid_until: until } = answer.body.data;
      expect(next).to.match(role === 'buyer' ? /^bk_test_/ : /^sk_test_/);
      expect(isWellFormedApiKey(next as string)).to.equal(true);
      expect(Date.parse(until as string) - Date.now()).to.be.within(59 * 60_000, 60 * 60_000);
      const config = await api.call({ path: configPath, key: next as string });
      expect(config.body.data.api_key, 'key in the configuration').to.equal(next);
      const deliveries = `/api/${role}/webhooks/deliveries`;
      expect((await api.call({ path: deliveries, key })).status, 'read with the old key').to.equal(200);
      expectFailure(await api.call({ path: configPath, key }), { status: 403, code: '07' });
    });

    it('refuses rotation by a superseded key', async () => {
      const { key, account } = await api.newAccount(role);
      const next = (await rotate(key)).body.data.api_key as string;
      expectFailure(await rotate(key, { overlap_minutes: 0 }), {
        status: 403,
        code: '07',
        message: /Send your current key/,
      });
      expect((await api.call({ path: configPath, key: next })).status).to.equal(200);
      expect(await ApiKeyModel.countDocuments({ accountId: account._id })).to.equal(2);
    });

    it('an overlap of 0 revokes all older keys at once', async () => {
      const { key } = await api.newAccount(role);
      const second = (await rotate(key, { overlap_minutes: 1_440 })).body.data.api_key as string;
      const third = (await rotate(second, { overlap_minutes: 0 })).body.data.api_key as string;
      for (const old of [key, second]) {
        expectFailure(await api.call({ path: configPath, key: old }), { status: 401, code: '07' });
      }
      expect((await api.call({ path: configPath, key: third })).status).to.equal(200);
    });

    it('of 5 concurrent rotations one succeeds and the others are refused', async () => {
      const { key, account } = await api.newAccount(role);
      const answers = await Promise.all(Array.from({ length: 5 }, () => rotate(key)));
      const [held = [], refused = []] = [200, 403].map((each) =>
        answers.filter(({ status }) => status === each),
      );
      expect([held.length, refused.length]).to.deep.equal([1, 4]);
      refused.forEach((answer) => expectFailure(answer, { status: 403, code: '07' }));
      expect(await ApiKeyModel.countDocuments({ accountId: account._id, validUntil: null })).to.equal(1);
      const next = String(held[0]?.body.data.api_key);
      expect((await api.call({ path: configPath, key: next })).body.data.api_key).to.equal(next);
    });

    it('writes an audit entry without a key', async () => {
      const { key, account } = await api.newAccount(role);
      const next = (await rotate(key)).body.data.api_key as string;
      const entries = await AuditModel.find({ 'subject.id': account._id, action: 'api-key.rotate' }).lean();
      expect(entries).to.have.length(1);
      expect(entries[0]?.actor).to.equal(`account:${account.username}`);
      const made = await ApiKeyModel.findOne({ accountId: account._id, validUntil: null }).lean();
      expect(entries[0]?.after, 'id of the new key').to.include({ keyId: made?._id });
      expect(JSON.stringify(entries)).to.not.include(next).and.not.include(key);
    });
  });
}
