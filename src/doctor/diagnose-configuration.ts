import { env } from '../../config/env.js';
import { AccountModel, type Account } from '../accounts/account.model.js';
import { OperatorModel } from '../operators/operator.model.js';
import { decrypt } from '../shared/encryption.js';
import { fail, ok, warn, type Diagnosis } from './diagnosis.js';

const nodeMin = [20, 19] as const;

/** Settings that are valid one by one (config/env.ts refuses the others) but dangerous together. */
export async function diagnoseConfiguration(): Promise<Diagnosis[]> {
  return [nodeVersion(), await encryptionKey(), await operators(), await sellers(), ...production()];
}

function nodeVersion(): Diagnosis {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const enough = major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1]);
  return enough
    ? ok('Node.js', process.versions.node)
    : fail('Node.js', process.versions.node, `Install Node.js ${nodeMin.join('.')} or newer.`);
}

/** A wrong key shows at the first stored secret, before any client meets it. */
async function encryptionKey(): Promise<Diagnosis> {
  const account = await AccountModel.findOne().lean<Account>();
  if (!account) {
    return ok('ENCRYPTION_KEY', 'nothing is stored yet');
  }
  try {
    decrypt(account.webhookSecretSealed, `webhook-secret:${account._id}`);
    return ok('ENCRYPTION_KEY', 'opens what is stored');
  } catch {
    return fail(
      'ENCRYPTION_KEY',
      'does not open what is stored',
      'It is not the key that this database was made with. Restore the right one; never overwrite.',
    );
  }
}

async function operators(): Promise<Diagnosis> {
  return (await OperatorModel.exists({ role: 'admin' }))
    ? ok('operators', 'somebody can log in as admin')
    : warn('operators', 'nobody can log in to /admin', 'topup operator create <username> --role admin');
}

async function sellers(): Promise<Diagnosis> {
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

function production(): Diagnosis[] {
  if (env.NODE_ENV !== 'production') {
    return [ok('mode', `${env.NODE_ENV}, ${env.APP_MODE}`)];
  }
  const risks: [boolean, string, string][] = [
    [
      env.DEPOSIT_MODE === 'instant',
      'DEPOSIT_MODE=instant',
      'A client call makes money. Set DEPOSIT_MODE=confirm.',
    ],
    [
      env.APP_MODE === 'sandbox',
      'APP_MODE=sandbox',
      'Real providers would be polled on the test schedule. Set APP_MODE=live.',
    ],
    [
      env.SIMULATOR_URL !== null,
      'SIMULATOR_URL is set',
      'Sales of sellers on the simulator are not real. Unset it.',
    ],
    [env.BASE_URL?.startsWith('http:') === true, 'BASE_URL is not https', 'Keys would travel in clear.'],
    [
      env.TRUST_PROXY === '0',
      'TRUST_PROXY=0',
      'Behind a proxy every client has its address: allowlists and limits fail. Fine without one.',
    ],
  ];
  const found = risks
    .filter(([risky]) => risky)
    .map(([, detail, advice]) => warn('production', detail, advice));
  return found.length > 0 ? found : [ok('production', 'no risky setting')];
}
