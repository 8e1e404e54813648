/** Calls every operation with the current key, with a superseded key, and with a token of each. */
import { expect } from 'chai';
import { limits } from '../../../config/limits.js';
import { sealAccessToken } from '../../../src/accounts/access-token.js';
import type { Role } from '../../../src/accounts/account.model.js';
import { ApiKeyModel, type ApiKey } from '../../../src/accounts/api-key.model.js';
import { hashApiKey } from '../../../src/accounts/api-key.js';
import {
  defineOperation,
  getRequiredPermission,
  type AnyOperation,
} from '../../../src/api/contract/operation.js';
import { operations } from '../../../src/api/operations.js';
import { OfferModel } from '../../../src/products/offer.model.js';
import { ProductModel } from '../../../src/products/product.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { openWebhookSecret } from '../../../src/webhooks/deliver/sign-delivery.js';
import { rotateApiKey } from '../../../src/accounts/changes/change-api-keys.js';
import { AccountModel, type Account } from '../../../src/accounts/account.model.js';
import { sampleOf } from '../contract/support/probes.js';
import { useApi } from '../support/api.js';
import { expectFailure } from '../support/expect-answer.js';
import { useSettings } from '../../support/use-settings.js';

/**
 * The operations that only the current key may call. The contract lists them too. This second list
 * detects a mistake there.
 */
const ownerOnlyOperations = ['Buyer', 'Seller'].flatMap((who) => [
  `get${who}Config`,
  `update${who}Config`,
  `rotate${who}Key`,
  `rotate${who}WebhookSecret`,
  `enable${who}Webhooks`,
  `list${who}Endpoints`,
  `create${who}Endpoint`,
  `get${who}Endpoint`,
  `update${who}Endpoint`,
  `remove${who}Endpoint`,
  `enable${who}Endpoint`,
  `rotate${who}EndpointSecret`,
]);

interface Credentials {
  current: string;
  superseded: string;
  tokenOfCurrent: string;
  tokenOfSuperseded: string;
}

describe('permissions of each credential', () => {
  const sellers: string[] = [];
  // No worker runs here, so the web process must not wait for reports.
  useSettings({ REPORT_SYNC_WAIT_MS: 1 });
  after(async () => {
    await writeAndInvalidate([ProductModel, OfferModel], null, async (products, offers) => {
      await products.deleteMany({ sellerId: { $in: sellers } });
      await offers.deleteMany({ sellerId: { $in: sellers } });
    });
  });
  const api = useApi();

  async function credentialsOf(role: Role): Promise<{ account: Account; credentials: Credentials }> {
    const { account, key: superseded } = await api.newAccount(role, { rateLimit: limits.rateLimitMax });
    sellers.push(account._id);
    const by = { actor: 'test', from: null, reason: null, keyId: null };
    const { apiKey: current } = await rotateApiKey(account, 60, by);
    const tokenOf = async (key: string) => {
      const stored = await ApiKeyModel.findOne({ sha256: hashApiKey(key) }).lean<ApiKey>();
      return sealAccessToken({ keyId: stored?._id ?? '', validUntil: new Date(Date.now() + 60_000) });
    };
    const credentials = {
      current,
      superseded,
      tokenOfCurrent: await tokenOf(current),
      tokenOfSuperseded: await tokenOf(superseded),
    };
    return { account, credentials };
  }

  function callOf(operation: AnyOperation, key: string) {
    const path = operation.path.replace(/:(\w+)/g, (_match, name: string) =>
      encodeURIComponent(String(sampleOf(operation.params)[name])),
    );
    const query = new URLSearchParams(
      Object.entries(sampleOf(operation.query)).map(
        ([name, value]) => [name, String(value)] as [string, string],
      ),
    ).toString();
    return {
      method: operation.method.toUpperCase() as 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
      path: query === '' ? path : `${path}?${query}`,
      ...(operation.method !== 'get' && { body: sampleOf(operation.body) }),
      key,
      from: '203.0.113.7',
    };
  }

  for (const operation of operations) {
    const isOwners = ownerOnlyOperations.includes(operation.id);
    it(`${operation.id}: ${isOwners ? 'only the current key may call it' : 'every credential may call it, and none sees a key or secret'}`, async () => {
      const { account, credentials } = await credentialsOf(operation.role);
      const sealed = (await AccountModel.findById(account._id).lean<Account>())?.webhookSecretSealed ?? '';
      const secrets = [credentials.current, credentials.superseded, openWebhookSecret(account._id, sealed)];
      for (const name of ['superseded', 'tokenOfCurrent', 'tokenOfSuperseded', 'current'] as const) {
        const answer = await api.call(callOf(operation, credentials[name]));
        const shown = `${name}: ${JSON.stringify(answer.body)}`;
        if (name !== 'current') {
          for (const secret of secrets) {
            expect(shown).to.not.include(secret);
          }
          expect(shown).to.not.match(/whsec_|[bs]k_(test|live)_/);
        }
        if (isOwners && name !== 'current') {
          expectFailure(answer, {
            status: 403,
            code: '07',
            message: name === 'superseded' ? /Send your current key/ : /Send your API key itself/,
          });
        } else {
          expect(answer.status, shown).to.not.be.oneOf([401, 403, 500]);
        }
      }
      expect(await ApiKeyModel.countDocuments({ accountId: account._id })).to.equal(
        operation.id.endsWith('Key') ? 3 : 2,
      );
    });
  }

  it('an operation without a declared permission requires the current key', () => {
    const silent = defineOperation({
      id: 'silent',
      method: 'get',
      path: '/silent',
      role: 'buyer',
      tag: 'Buyer',
      summary: '',
      data: operations[0]?.data as never,
      handle: () => Promise.resolve({ data: null }),
    });
    expect(getRequiredPermission(silent)).to.equal('own');
  });

  it('refuses a key that was replaced during its own rotation or change', async () => {
    for (let round = 0; round < 5; round++) {
      const { account, key } = await api.newAccount('buyer', { rateLimit: limits.rateLimitMax });
      const rotations = Array.from({ length: 4 }, () =>
        api.call({ path: '/api/buyer/api/keys/rotate', key, body: { overlap_minutes: 60 } }),
      );
      const changes = Array.from({ length: 4 }, (_, index) =>
        api.call({ path: '/api/buyer/api/config', key, body: { rate_limit: 900 + index } }),
      );
      const [rotated, changed] = [await Promise.all(rotations), await Promise.all(changes)];
      const statuses = rotated.map(({ status }) => status).sort();
      expect(statuses).to.deep.equal([200, 403, 403, 403]);
      for (const { status, body } of changed) {
        expect(status, JSON.stringify(body)).to.be.oneOf([200, 403]);
        expect(body.data?.api_key ?? key, "only the caller's own key").to.equal(key);
      }
      expect(await ApiKeyModel.countDocuments({ accountId: account._id })).to.equal(2);
    }
  });
});
