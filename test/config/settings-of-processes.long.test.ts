import { readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { parseEnv } from '../../config/env.js';
import {
  ownSettings,
  getProcessTypes,
  settingsOfProcesses,
  type OwnSetting,
} from '../../config/settings-of-processes.js';
import { processTypes } from '../../src/processes.js';
import { findFreePort } from '../../scripts/databases/ports.js';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { eventually } from '../support/eventually.js';
import { runToEnd } from '../support/run-to-end.js';
import { startStack } from '../support/stack.js';
import { startProgram } from '../support/start-program.js';
import { topupProcess } from '../support/topup.js';
import { readTableUnder } from '../support/docs-table.js';

const workers = Object.keys(settingsOfProcesses).filter(
  (name) => !['release', 'web', 'topup'].includes(name),
);
const values: Record<OwnSetting, string> = {
  ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  ENCRYPTION_KEYS: `next:${randomBytes(32).toString('base64')}`,
  SESSION_SECRET: randomBytes(32).toString('hex'),
  PAYMENT_NOTIFY_SECRET: randomBytes(32).toString('hex'),
  LEDGER_CLOSE_KEY: '/nowhere/close.pem',
  BASE_URL: 'https://topup.example',
  PAYOUT_MODE: 'manual',
  WEBHOOK_PROXY_URL: 'http://user:password@proxy.example:3128',
  ALERT_WEBHOOK_URL: 'https://hooks.example/services/T000/B000/secret',
};
const program = (path: string, ...args: string[]) => ['node', `/app/dist/${path}`, ...args];
/** Returns production settings in which `own` are the only process-specific ones. */
const productionWith = (own: readonly OwnSetting[]): NodeJS.ProcessEnv => ({
  ...process.env,
  ...Object.fromEntries(ownSettings.map((name) => [name, own.includes(name) ? values[name] : ''])),
  NODE_ENV: 'production',
  APP_MODE: 'live',
  ACCEPTED_RISKS: 'open-mongodb,open-redis',
  SIMULATOR_URL: '',
  LOCAL_DIR: '',
});

describe('settings of each process', () => {
  it('are defined for every process type and no other', () => {
    expect(workers).to.have.members(processTypes.map(({ name }) => name));
  });

  it('recognizes a process by the started program', () => {
    expect(getProcessTypes(program('src/server.js'))).to.deep.equal(['web']);
    expect(getProcessTypes(program('scripts/migrate.js'))).to.deep.equal(['release']);
    expect(getProcessTypes(program('scripts/topup.js', 'account', 'list'))).to.deep.equal(['topup']);
    expect(getProcessTypes(['node', 'C:\\app\\scripts\\topup.mjs'])).to.deep.equal(['topup']);
    expect(getProcessTypes(program('workers/run.js', 'follow-up', 'webhooks'))).to.deep.equal([
      'follow-up',
      'webhooks',
    ]);
    expect(getProcessTypes(program('workers/run.js', 'all'))).to.have.members(workers);
    expect(getProcessTypes(program('scripts/seed.js'))).to.equal(null);
    expect(getProcessTypes(program('scripts/furnish.js'))).to.equal(null);
  });

  for (const [name, own] of Object.entries(settingsOfProcesses)) {
    it(`${name} reads its own settings and cannot read those of others`, () => {
      const env = parseEnv(productionWith(ownSettings), [name]);
      for (const setting of ownSettings) {
        if (own.includes(setting)) {
          expect(env[setting]).to.equal(values[setting]);
        } else {
          expect(() => env[setting], setting).to.throw(`${setting} is not for ${name}`);
        }
      }
    });
  }

  it('match docs/reference/secrets.md', () => {
    expect(readTableUnder('The list', readFileSync('docs/reference/secrets.md', 'utf8'))).to.deep.equal(
      Object.entries(settingsOfProcesses).map(([name, own]) => [
        name,
        own.map((each) => `\`${each}\``).join(', '),
      ]),
    );
  });

  it('match docker-compose.yml', () => {
    const [, services = ''] = readFileSync('docker-compose.yml', 'utf8').split('\nservices:\n');
    for (const [name, own] of Object.entries(settingsOfProcesses)) {
      const [, block = ''] =
        new RegExp(`(?:^|\\n)  ${name}:\\n((?:    .*\\n|\\n(?=    ))+)`).exec(services) ?? [];
      expect(block, name).to.not.equal('');
      const given = [
        ...(/\*encryption\b/.test(block) ? ['ENCRYPTION_KEY', 'ENCRYPTION_KEYS'] : []),
        ...[...block.matchAll(/^ {6}([A-Z_]+):/gm)].map(([, setting]) => setting),
      ];
      expect(given, name).to.have.members([...own]);
    }
  });

  it('suffice for a start in production, and a missing one is named', async () => {
    await runToEnd('scripts/migrate.js', [], productionWith(settingsOfProcesses['release'] ?? []));
    const ofWeb = { ...productionWith(settingsOfProcesses['web'] ?? []), PORT: String(await findFreePort()) };
    const [settlements, web] = await Promise.all([
      startProgram('workers/run.js', ['settlements'], productionWith(['PAYOUT_MODE'])),
      startProgram('src/server.js', [], ofWeb),
    ]);
    expect((await fetch(`${web.url}/healthz`)).status).to.equal(200);
    await Promise.all([web.stop(), settlements.stop()]);
    const doctor = await topupProcess(
      ['doctor', '--json'],
      productionWith(settingsOfProcesses['topup'] ?? []),
    );
    const { checks } = doctor.json<{ checks: { name: string; status: string; detail: string }[] }>();
    const [aboutRedis] = checks.filter(({ name }) => name === 'REDIS_URL');
    expect(aboutRedis).to.include({ status: 'warn' });
    expect(aboutRedis?.detail).to.include('accepted as open-redis');
    const detailOf = (setting: string) => checks.find(({ name }) => name === setting)?.detail;
    expect(detailOf('SESSION_SECRET')).to.include('checked at startup by the processes that use it');
    expect(() => parseEnv(productionWith([]), ['topup']))
      .to.throw(/ENCRYPTION_KEY/)
      .with.property('message')
      .that.does.not.match(/SESSION_SECRET|PAYOUT_MODE/);
    expect(() => parseEnv(productionWith([]), ['settlements'])).to.throw(/PAYOUT_MODE/);
  });

  it('suffice for sales, credits, payouts and reports in separate processes', async () => {
    const stack = await startStack({ workers: ['fulfilment', 'inquiries', 'webhooks'] });
    try {
      await Promise.all(
        ['follow-up', 'sellers', 'settlements', 'reports'].map((name) => stack.startWorker(name)),
      );
      const { buyer, seller } = await stack.seed();
      const buyerApi = apiClient(stack.baseUrl, buyer?.api_key ?? '');
      const sellerApi = apiClient(stack.baseUrl, seller?.api_key ?? '');
      await deposit(buyerApi, 2_000_000);
      const order = { code: 'PLN1000', customer_number: '12345671230', ref_id: uniqueRef() };
      expect((await buyerApi.post('/api/buyer/transaction', order)).status).to.equal(200);
      const bank = { bank_code: 'BCA', account_number: '1234567890', account_name: 'Seller' };
      const settlement = await eventually('the seller can withdraw', async () => {
        const asked = await sellerApi.post('/api/seller/settlement/request', {
          amount: 50_000,
          bank_account: bank,
        });
        return asked.status === 200 ? asked : null;
      });
      await eventually('the settlement is completed', async () =>
        stack.db
          .collection<{ _id: string }>('settlements')
          .findOne({ _id: settlement.body.data.settlement_id as string, status: 'completed' }),
      );
      const report = await buyerApi.post('/api/buyer/reports', { type: 'transaction' });
      expect(report.status).to.equal(200);
      expect(report.body.data.transactions).to.have.length(1);
      await eventually('the webhook is delivered', async () =>
        stack.db.collection('deliveries').findOne({ event: 'transaction.success', state: 'delivered' }),
      );
    } finally {
      await stack.stop();
    }
  });
});
