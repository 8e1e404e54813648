import { expect } from 'chai';
import { limits } from '../../../config/limits.js';
import { getConfigFor } from '../../../src/api/account/config.js';
import { describedInterface } from '../../../src/api/openapi/document.js';
import { useApi } from '../support/api.js';
import { expectSuccess } from '../support/expect-answer.js';

for (const role of ['buyer', 'seller'] as const) {
  const operation = getConfigFor(role);
  const path = `/api/${role}/api/config`;

  describe(`GET ${path}`, () => {
    const api = useApi();

    it('returns every setting of the account, and is_active only to buyers', async () => {
      const { key, account, webhookSecret } = await api.newAccount(role, {
        webhookUrl: 'https://shop.example/hook',
        callbackUrl: null,
        ipWhitelist: ['10.0.0.0/8', '127.0.0.1'],
        rateLimit: 77,
      });
      const answer = await api.call({ path, key });
      expectSuccess(answer, operation);
      expect(answer.body.data).to.deep.equal({
        username: account.username,
        api_key: key,
        webhook_url: 'https://shop.example/hook',
        callback_url: null,
        ip_whitelist: ['10.0.0.0/8', '127.0.0.1'],
        rate_limit: 77,
        language: 'en',
        webhook_status: 'enabled',
        webhook_secret: webhookSecret,
        ...(role === 'buyer' && { is_active: true }),
      });
      expect(answer.headers['cache-control'], 'an answer with secrets').to.equal('no-store');
      const other = await api.newAccount(role);
      expect((await api.call({ path, key: other.key })).body.data.api_key).to.equal(other.key);
      expect(account.username).to.not.equal(other.account.username);
    });

    it('returns a rate_limit above the maximum that an account may choose', async () => {
      const { key } = await api.newAccount(role, { rateLimit: 25_000 });
      const answer = await api.call({ path, key });
      expectSuccess(answer, operation);
      expect(answer.body.data.rate_limit).to.equal(25_000);
      const { get, post } = describedInterface().paths[path] ?? {};
      const success = get?.responses[200];
      const schema =
        success && 'content' in success ? success.content['application/json']?.schema : undefined;
      const rateLimitSchema = schema?.properties?.['data']?.properties?.['rate_limit'];
      expect(rateLimitSchema).to.include({ type: 'integer', minimum: 1 }).and.not.have.property('maximum');
      const chosen = post?.requestBody?.content['application/json']?.schema.properties?.['rate_limit'];
      expect(chosen).to.include({ minimum: 1, maximum: limits.rateLimitMax });
      const more = await api.call({ path, key, body: { rate_limit: limits.rateLimitMax + 1 } });
      expect(more.status).to.equal(400);
    });
  });
}
