import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import mongoose from 'mongoose';
import { getBuiltProgramPath } from '../../config/project-file.js';
import '../../src/all-models.js';
import type { Diagnosis } from '../../src/doctor/diagnosis.js';
import { excludedFields, sealedSources } from '../../src/sealed-values.js';
import { fetchJson } from '../support/fetch-json.js';
import { apiClient } from '../support/api-client.js';
import { hmacSign, pathOf } from '../api/support/reseller.js';
import { startStack, type SeededAccount, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';

interface Result {
  key: string;
  changed: number;
  unreadable: number;
  remaining: number;
  values: Record<string, number>;
}

describe('topup keys reencrypt', function () {
  this.timeout(120_000);
  const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  let stack: Stack;
  let seeded: Record<string, SeededAccount>;
  let buyer: SeededAccount;
  let oldFirst: NodeJS.ProcessEnv;
  let newFirst: NodeJS.ProcessEnv;
  let only: NodeJS.ProcessEnv;
  const spareKeys = 1_300;

  before(async () => {
    stack = await startStack({ web: false, env: { ENCRYPTION_KEY: first } });
    seeded = await stack.seed();
    buyer = seeded['buyer'] as SeededAccount;
    // The maximum that api/config allows.
    await stack.db.collection('accounts').updateMany({}, { $set: { rateLimit: 1_000 } });
    oldFirst = { ...stack.env, ENCRYPTION_KEY: '', ENCRYPTION_KEYS: `0:${first},next:${second}` };
    newFirst = { ...stack.env, ENCRYPTION_KEYS: `next:${second}` };
    only = { ...stack.env, ENCRYPTION_KEY: '', ENCRYPTION_KEYS: `next:${second}` };
    // More expired keys on one account than one batch holds.
    const keys = stack.db.collection<{ _id: string }>('apiKeys');
    const key = await keys.findOne({ accountId: await idOf(buyer.username) });
    const past = { validUntil: new Date(0) };
    await keys.insertMany(
      Array.from({ length: spareKeys }, (_, n) => ({
        ...key,
        ...past,
        _id: `spare-${n}`,
        sha256: `spare-${n}`,
      })),
    );
  });
  after(async () => {
    await stack.stop();
  });

  const idOf = async (username: string): Promise<string> =>
    (await stack.db.collection<{ _id: string; username: string }>('accounts').findOne({ username }))?._id ??
    '';
  const reencrypt = async (env: NodeJS.ProcessEnv) => {
    const { code, ...rest } = await topup(['keys', 'reencrypt', '--json'], env);
    return { code, ...rest.json<Result & Record<string, unknown>>() };
  };
  const aboutKeys = async (env: NodeJS.ProcessEnv) => {
    const { checks } = (await topup(['doctor', '--json'], env)).json<{ checks: Diagnosis[] }>();
    return checks.find(({ name, detail }) => /^ENCRYPTION_KEYS?$/.test(name) && !/^not |^the /.test(detail));
  };
  const sealedOf = async (username: string): Promise<string> =>
    (
      await stack.db
        .collection<{ username: string; webhookSecretSealed: string }>('accounts')
        .findOne({ username })
    )?.webhookSecretSealed ?? '';

  it('covers every encrypted field of every model', () => {
    const named = sealedSources.flatMap(({ name, fields }) =>
      // All elements of a list share one schema path, so remove the index.
      fields.map(({ path }) => `${name}.${path.replace(/\.\d+(?=\.)/g, '')}`),
    );
    const found = mongoose.modelNames().flatMap((name) => {
      const { schema, collection } = mongoose.model(name);
      return pathsOf(schema)
        .filter((path) => /sealed$/i.test(path))
        .map((path) => `${collection.collectionName}.${path}`);
    });
    expect(found).to.have.members([...new Set(named), ...excludedFields]);
    expect(found).to.include('accounts.provider.secretSealed');
  });

  it('reads a secret without a key id only with key 0', async () => {
    expect(await sealedOf('buyer')).to.not.include(':');
    expect(await aboutKeys(stack.env)).to.include({ status: 'ok' });
    expect(await aboutKeys(oldFirst)).to.include({ status: 'ok' });
    expect(await aboutKeys(newFirst)).to.include({ status: 'warn' });
    expect(await aboutKeys(only)).to.include({ status: 'fail' });
    const web = await stack.startWeb(oldFirst);
    const config = await apiClient(web.url, buyer.api_key).get('/api/buyer/api/config');
    expect(config.body.data).to.include({ api_key: buyer.api_key, webhook_secret: buyer.webhook_secret });
    await web.stop();
  });

  it('re-encrypts all secrets despite a killed run and concurrent secret rotations', async () => {
    const webs = await Promise.all([stack.startWeb(oldFirst), stack.startWeb(newFirst)]);
    const secrets = new Map<string, string>();
    const endpoints = new Map<string, string>();
    for (const name of ['twice', 'also-twice']) {
      const hook = { url: `https://shop.example/${name}` };
      const made = await apiClient(webs[0].url, buyer.api_key).post('/api/buyer/webhooks', hook);
      endpoints.set(String(made.body.data.id), String(made.body.data.secret));
    }
    let isRunning = true;
    const accounts = await stack.db.collection<{ username: string }>('accounts').countDocuments();
    const rotating = Promise.all(
      ['buyer', 'buyer2'].map(async (name, index) => {
        const { api_key: key = '' } = seeded[name] ?? {};
        const client = apiClient(webs[index]?.url ?? '', key);
        while (isRunning) {
          const rotated = await client.post('/api/buyer/api/webhook-secret/rotate', {});
          expect(rotated.status, JSON.stringify(rotated.body)).to.equal(200);
          secrets.set(key, String(rotated.body.data.webhook_secret));
        }
      }),
    );
    const killed = spawn(process.execPath, [getBuiltProgramPath('scripts/topup.js'), 'keys', 'reencrypt'], {
      env: newFirst,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await once(killed.stderr, 'data');
    killed.kill('SIGKILL');
    await once(killed, 'close');
    const meanwhile = await reencrypt(newFirst);
    isRunning = false;
    await rotating;
    expect(meanwhile.unreadable).to.equal(0);
    // The process with the old key order encrypted the latest secrets under its own key. This run
    // re-encrypts them.
    const last = await reencrypt(newFirst);
    expect(last).to.include({ code: 0, remaining: 0, unreadable: 0, key: 'next' });
    expect(last.values['0']).to.equal(0);
    expect(last.values['next']).to.be.at.least(spareKeys + 2 * accounts);
    expect(await aboutKeys(newFirst)).to.include({ status: 'ok' });
    expect(secrets.size).to.equal(2);
    const shown = await apiClient(webs[1].url, buyer.api_key).get('/api/buyer/webhooks');
    const shownSecrets = (shown.body.data as { id: string; secret: string }[]).map(({ id, secret }) => [
      id,
      secret,
    ]);
    expect(shownSecrets).to.deep.include.members([...endpoints]);
    for (const web of webs) {
      for (const [key, secret] of secrets) {
        const config = await apiClient(web.url, key).get('/api/buyer/api/config');
        expect(config.body.data).to.include({ api_key: key, webhook_secret: secret });
      }
    }
    await Promise.all(webs.map((web) => web.stop()));
  });

  it('API keys, signs and webhook secrets work with the new key alone', async () => {
    expect(await aboutKeys(only)).to.include({ status: 'ok' });
    const web = await stack.startWeb(only);
    const config = await apiClient(web.url, buyer.api_key).get('/api/buyer/api/config');
    expect(config.body.data.api_key).to.equal(buyer.api_key);
    const sign = hmacSign({ username: 'buyer', key: buyer.api_key }, 'depo');
    const balance = await fetchJson<object>(web.url + pathOf('balance', { username: 'buyer', sign }), 'GET');
    expect(balance).to.include({ status: '00' });
    const again = await reencrypt(only);
    expect(again).to.include({ code: 0, changed: 0, remaining: 0 });
  });

  it('counts an unreadable secret and keeps it unchanged', async () => {
    const accounts = stack.db.collection<{ username: string }>('accounts');
    const lost = `lost:${randomBytes(60).toString('base64')}`;
    await accounts.updateOne({ username: 'suspended' }, { $set: { webhookSecretSealed: lost } });
    const found = await reencrypt(only);
    expect(found).to.include({ code: 1, unreadable: 1, remaining: 1 });
    expect(found.values['lost']).to.equal(1);
    expect(await sealedOf('suspended')).to.equal(lost);
    expect(await aboutKeys(newFirst)).to.include({ status: 'fail' });
  });

  it('records the count in the audit log without secrets', async () => {
    const entry = await stack.db.collection('audit').findOne({ action: 'keys.reencrypt' });
    expect(entry?.['subject']).to.deep.equal({ kind: 'encryption-key', id: 'next' });
    expect(JSON.stringify(entry)).to.not.include(second);
  });
});

/** Returns all paths, including nested ones. */
function pathsOf(schema: { paths: object }, prefix = ''): string[] {
  return Object.entries(schema.paths).flatMap(([path, type]) => {
    const nested = (type as { schema?: { paths: object } }).schema;
    return nested ? pathsOf(nested, `${prefix}${path}.`) : [prefix + path];
  });
}
