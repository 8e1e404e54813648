import { createCipheriv, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { developmentKey } from '../../config/keyring.js';
import { env } from '../../config/env.js';
import { AccountModel } from '../../src/accounts/account.model.js';
import { createAccount } from '../../src/accounts/create-account.js';
import { reencrypt, type SealedSource, sealedSources } from '../../src/sealed-values.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { newId } from '../../src/shared/ids.js';
import { openWebhookSecret, sealWebhookSecret } from '../../src/webhooks/deliver/sign-delivery.js';
import { useDatabase } from '../webhooks/support/database.js';

describe('re-encryption', () => {
  useDatabase();
  const keysBefore = env.ENCRYPTION_KEYS;
  before(() => {
    // The keyring is cached at its first use, so the key is set before any test uses one.
    env.ENCRYPTION_KEYS = `next:${randomBytes(32).toString('base64')}`;
  });
  after(() => {
    env.ENCRYPTION_KEYS = keysBefore;
  });

  /** Seals in the format without key ids: base64 of nonce, tag and ciphertext. */
  function sealWithoutKeyId(plain: string, context: string): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', Buffer.from(developmentKey, 'base64'), nonce);
    cipher.setAAD(Buffer.from(context));
    const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
  }

  async function accountWith(secret: string): Promise<string> {
    const { account } = await createAccount({ username: `t-${newId().slice(8)}`, role: 'buyer' });
    await put(account._id, sealWithoutKeyId(secret, `webhook-secret:${account._id}`));
    return account._id;
  }
  const put = (id: string, webhookSecretSealed: string) =>
    writeAndInvalidate([AccountModel], [id], (rows) =>
      rows.updateOne({ _id: id }, { $set: { webhookSecretSealed } }),
    );
  const sealedOf = async (id: string): Promise<string> =>
    (await AccountModel.findById(id).lean())?.webhookSecretSealed ?? '';
  /** Limits re-encryption to the fields of the account with this id. */
  const sourceOf = (id: string, over: Partial<SealedSource> = {}): SealedSource[] =>
    sealedSources
      .filter(({ name }) => name === 'accounts')
      .map((source) => ({
        ...source,
        read: async (options) => (await source.read(options)).filter(({ _id }) => _id === id),
        ...over,
      }));

  it('reads a secret without a key id and adds the id of the first key', async () => {
    const id = await accountWith('whsec_old');
    expect(openWebhookSecret(id, await sealedOf(id))).to.equal('whsec_old');
    expect(await reencrypt(sourceOf(id))).to.deep.equal({ changed: 1, unreadable: 0 });
    expect(await sealedOf(id)).to.match(/^next:/);
    expect(openWebhookSecret(id, await sealedOf(id))).to.equal('whsec_old');
    expect(await reencrypt(sourceOf(id))).to.deep.equal({ changed: 0, unreadable: 0 });
  });

  it('never overwrites a secret that changed after it was read', async () => {
    const id = await accountWith('whsec_old');
    const [plain] = sourceOf(id);
    const source = sourceOf(id, {
      write: async (rows, changes) => {
        await put(id, sealWebhookSecret(id, 'whsec_new'));
        return plain?.write(rows, changes) ?? { modifiedCount: 0 };
      },
    });
    expect(await reencrypt(source)).to.deep.equal({ changed: 0, unreadable: 0 });
    expect(openWebhookSecret(id, await sealedOf(id))).to.equal('whsec_new');
  });

  it('refuses a secret copied from another account', async () => {
    const [one, two] = [await accountWith('whsec_old'), await accountWith('whsec_old')];
    expect(() => openWebhookSecret(two, sealWebhookSecret(one, 'whsec_old'))).to.throw();
    await put(two, await sealedOf(one));
    expect(await reencrypt(sourceOf(two))).to.deep.equal({ changed: 0, unreadable: 1 });
  });
});
