import { getWebhookSecretContext } from '../accounts/secret-contexts.js';
import { lookUp } from '../shared/collections.js';
import { env } from '../../config/env.js';
import { isGuarded, refusedSettings } from '../../config/refused-settings.js';
import { getProcessTypes, getForeignSettings } from '../../config/settings-of-processes.js';
import { AccountModel, type Account } from '../accounts/account.model.js';
import { md5DaysShown, findTopMd5Signers } from '../accounts/md5-signs.js';
import { findUsernames } from '../accounts/find-account.js';
import { OperatorModel } from '../operators/operator.model.js';
import { decrypt, getKeyring, getSealingKey } from '../shared/encryption.js';
import { countSealed, sumForKey, sealedSources } from '../sealed-values.js';
import { fail, ok, warn, type Diagnosis } from './diagnosis.js';
import { openTunnel, ProxyError, UnreachedError } from '../webhooks/deliver/proxy-tunnel.js';

const nodeMin = [20, 19] as const;

/** Checks the settings, and whether they match the stored data. */
export async function diagnoseConfiguration(): Promise<Diagnosis[]> {
  return [
    diagnoseNodeVersion(),
    await diagnoseEncryptionKeys(),
    await diagnoseOperators(),
    await diagnoseSellers(),
    await diagnoseMd5Signs(),
    diagnosePaymentNotifications(),
    ...diagnoseMode(),
    ...diagnoseRefusedSettings(),
  ];
}

function diagnoseNodeVersion(): Diagnosis {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const enough = major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1]);
  return enough
    ? ok('Node.js', process.versions.node)
    : fail('Node.js', process.versions.node, `Install Node.js ${nodeMin.join('.')} or newer.`);
}

/**
 * Decrypts one stored secret, so that the operator sees a wrong key before a client does. With
 * several keys it reports the progress of the key change.
 */
async function diagnoseEncryptionKeys(): Promise<Diagnosis> {
  const account = await AccountModel.findOne().lean<Account>();
  if (!account) {
    return ok('ENCRYPTION_KEY', 'nothing is stored yet');
  }
  try {
    decrypt(account.webhookSecretSealed, getWebhookSecretContext(account._id));
  } catch {
    return fail(
      'ENCRYPTION_KEY',
      'does not decrypt the stored secrets',
      'It is not the key that encrypted this database. Restore the right key; never overwrite it.',
    );
  }
  return getKeyring().length === 1
    ? ok('ENCRYPTION_KEY', 'decrypts the stored secrets')
    : diagnoseKeyRotation();
}

async function diagnoseKeyRotation(): Promise<Diagnosis> {
  const counts = await countSealed(sealedSources);
  const known = getKeyring().map(({ id }) => id);
  const ids = Object.keys(counts);
  const detail = ids.map((id) => `${sumForKey(counts, id)} under ${id}`).join(', ');
  if (ids.some((id) => !known.includes(id))) {
    return fail('ENCRYPTION_KEYS', detail, `Only ${known.join(', ')} are set: add the missing key.`);
  }
  return ids.some((id) => id !== getSealingKey().id && sumForKey(counts, id) > 0)
    ? warn('ENCRYPTION_KEYS', detail, 'Once every process has the first key first, run topup keys reencrypt')
    : ok('ENCRYPTION_KEYS', `${detail}: the other keys can be removed`);
}

async function diagnoseOperators(): Promise<Diagnosis> {
  return (await OperatorModel.exists({ role: 'admin' }))
    ? ok('operators', 'there is an admin')
    : warn('operators', 'there is no admin', 'topup operator create <username> --role admin');
}

async function diagnoseSellers(): Promise<Diagnosis> {
  const found = await AccountModel.find({ role: 'seller', status: 'active' }).limit(1_000).lean<Account[]>();
  const without = found.filter((each) => each.provider === null).map((each) => each.username);
  if (without.length > 0) {
    const names = without.slice(0, 5).join(', ');
    return warn(
      'sellers',
      `${without.length} without a provider: ${names}`,
      'Their products cannot be served.',
    );
  }
  return found.length === 0
    ? warn('sellers', 'none', 'Nothing can be sold: topup account create <username> --role seller --help')
    : ok('sellers', `${found.length} active, each with a provider`);
}

/**
 * Lists the accounts that use the most md5 signs. Both signs are accepted by default, because
 * common client software supports only md5, which is the weaker one.
 */
async function diagnoseMd5Signs(): Promise<Diagnosis> {
  const found = await findTopMd5Signers();
  if (!found) {
    return ok('md5 signs', 'unknown while Redis is unavailable');
  }
  if (found.length === 0) {
    return ok('md5 signs', `none in ${md5DaysShown} days`);
  }
  const first = found.slice(0, 5);
  const usernames = await findUsernames(first.map(({ accountId }) => accountId));
  const names = first
    .map(({ accountId, signs }) => `${lookUp(usernames, accountId) ?? accountId} ${signs}`)
    .join(', ');
  return ok(
    'md5 signs',
    `${found.length} accounts in ${md5DaysShown} days: ${names}. For one that has moved to HMAC: topup account set <username> --require-strong-sign on`,
  );
}

function diagnosePaymentNotifications(): Diagnosis {
  return ok(
    'payment notifications',
    env.PAYMENT_NOTIFY_SECRET === null
      ? 'off: deposits are confirmed manually (set PAYMENT_NOTIFY_SECRET)'
      : 'signed notifications credit pending deposits',
  );
}

/** Reports the settings of docs/reference/refused-settings.md with the values of this process. */
function diagnoseRefusedSettings(): Diagnosis[] {
  const notOurs: string[] = getForeignSettings(getProcessTypes(process.argv));
  return refusedSettings.map((each) => {
    const { setting, why, instead, acceptedAs } = each;
    const value = each.value.replaceAll('`', '');
    if (notOurs.includes(setting)) {
      return ok(setting, `checked at startup by the processes that use it (refused in production: ${value})`);
    }
    if (!each.isSo(env)) {
      return ok(setting, `as it should be (refused in production: ${value})`);
    }
    return isGuarded(env)
      ? warn(
          setting,
          `${value}; accepted as ${acceptedAs ?? ''}: ${why}`,
          `Use ${instead.replaceAll('`', '')}`,
        )
      : ok(setting, `${value} (refused in production)`);
  });
}

function diagnoseMode(): Diagnosis[] {
  const found = ok('mode', `${env.NODE_ENV}, ${env.APP_MODE}`);
  return isGuarded(env) && env.TRUST_PROXY === '0'
    ? [
        found,
        warn(
          'TRUST_PROXY',
          '0',
          'Behind a proxy, every client appears with the address of the proxy, so allowlists and limits fail. Without a proxy, 0 is right.',
        ),
      ]
    : [found];
}

const proxySetting = 'WEBHOOK_PROXY_URL';

/**
 * Checks that the proxy accepts our calls. It requests a tunnel to the proxy itself, which the
 * proxy allows or refuses at once. Reports nothing without a proxy.
 *
 * It does not test which other destinations the proxy allows.
 */
export async function diagnoseProxy(): Promise<Diagnosis[]> {
  if (env.WEBHOOK_PROXY_URL === null) {
    return [];
  }
  const proxy = new URL(env.WEBHOOK_PROXY_URL);
  const port = proxy.port === '' ? (proxy.protocol === 'https:' ? '443' : '80') : proxy.port;
  try {
    (await openTunnel(proxy, `${proxy.hostname}:${port}`)).destroy();
    return [ok(proxySetting, 'accepts calls')];
  } catch (error) {
    if (error instanceof UnreachedError || (error instanceof ProxyError && error.code === 'HTTP_403')) {
      // The proxy accepts us, although it opens no tunnel to itself.
      return [ok(proxySetting, 'answers')];
    }
    const why = error instanceof ProxyError ? `${error.message} (${error.code})` : String(error);
    return [
      fail(
        proxySetting,
        why,
        'Webhooks wait until it works, and do not count against their receivers. Check the proxy, its host name and its password.',
      ),
    ];
  }
}
