import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { buildDeliveryHeaders, decodeSigningKey } from '../../src/webhooks/deliver/sign-delivery.js';
import { buildPurchaseDeliveries } from '../../src/purchases/purchase-notifications.js';
import { eventually } from '../support/eventually.js';
import { newAccount, someTransaction, storeDeliveries } from './support/accounts.js';
import { useDatabase } from './support/database.js';
import { startReceiver } from './support/receiver.js';

const program = join('dist', 'scripts', 'topup.js');

describe('topup listen and topup webhooks', () => {
  useDatabase();

  it('verify reports the result by its exit code and a hint', () => {
    const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
    const raw = '{"event":"ping","data":{}}';
    const headers = buildDeliveryHeaders({ _id: 'm1', event: 'ping', body: raw, attemptCount: 0 }, [
      decodeSigningKey(secret),
    ]);
    const verify = (message: object | string, ...more: string[]) => {
      const input = typeof message === 'string' ? message : JSON.stringify(message);
      const args = [program, 'webhooks', 'verify', '--secret', secret, '--file', '-', '--json', ...more];
      const { status, stdout } = spawnSync(process.execPath, args, { input, encoding: 'utf8' });
      return { status, output: JSON.parse(stdout) };
    };
    expect(verify({ headers, raw })).to.deep.include({ status: 0 });
    const changed = verify({ headers, raw: raw.replace(':', ': ') });
    expect(changed.status).to.equal(1);
    expect(changed.output.hint).to.match(/body was changed.*compact/);
    const old = { ...headers, 'webhook-timestamp': '1700000000' };
    expect(verify({ headers: old, raw }).status).to.equal(1);
    expect(verify('nonsense').status).to.equal(2);
  });

  it('listen forwards each new event once, with its id, body and signature', async () => {
    const local = await startReceiver();
    const { account, secret } = await newAccount({ webhookUrl: 'http://127.0.0.1:9/never' });
    const child = spawn(
      process.execPath,
      [program, 'listen', account.username, '--forward-to', `${local.url}/hook`, '--count', '2', '--json'],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    // Register the listener now, because the program may exit before the test waits for it.
    const exited = once(child, 'exit') as Promise<[number]>;
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    await eventually('topup listens', () => stderr.includes('Forwarding events'), 30_000);
    const rows = (['pending', 'success'] as const).flatMap((event) =>
      buildPurchaseDeliveries({
        purchase: someTransaction({ accountId: account._id }),
        buyer: account,
        seller: null,
        event,
      }),
    );
    // Simulate that the clock of the process which created the rows is slightly behind.
    await storeDeliveries(
      rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt.getTime() - 300) })),
    );
    const [code] = await exited;
    expect(code, stderr).to.equal(0);
    expect(local.received.map((each) => each.headers['webhook-id']).sort()).to.deep.equal(
      rows.map((row) => row._id).sort(),
    );
    for (const each of local.received) {
      new Webhook(secret).verify(each.raw, each.headers);
    }
    expect(stderr).not.to.include('whsec_');
    await local.close();
  });
});
