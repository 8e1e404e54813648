import { hashNewPassword } from '../../../src/operators/password.js';
import type { Operator } from '../../../src/operators/operator.model.js';
import { newId } from '../../../src/shared/ids.js';
import { consoleClient } from '../../support/console-client.js';
import type { Stack } from '../../support/stack.js';

const password = 'correct horse battery staple';

/** Reads every console list with every filter, and runs the searches. */
export async function visitConsole({ db, baseUrl }: Stack): Promise<void> {
  const at = new Date();
  const username = `viewer-${newId()}`;
  await db.collection<Operator>('operators').insertOne({
    _id: newId(),
    username,
    role: 'viewer',
    passwordHash: await hashNewPassword(password),
    passwordChangedAt: at,
    sessionEpoch: 0,
    createdAt: at,
  });
  const client = consoleClient(baseUrl, '198.51.100.9');
  await client.login(username, password);
  const ask = async (path: string) => {
    const { status, text } = await client.get(`/admin/api${path}`, { accept: 'application/json' });
    if (status !== 200) {
      throw new Error(`${path} was answered ${status}: ${text}`);
    }
    return JSON.parse(text).data;
  };
  const [day] = at.toISOString().split('T');
  for (const filter of [
    '',
    `&from=${day}&to=${day}`,
    `&from=${day}`,
    `&to=${day}`,
    '&status=SUCCESS',
    '&account=buyer',
    '&account=buyer&status=SUCCESS',
    `&account=buyer&from=${day}&to=${day}`,
    '&seller=seller',
    '&seller=seller&status=SUCCESS',
    `&seller=seller&from=${day}&to=${day}`,
  ]) {
    const { next } = await ask(`/purchases?limit=1${filter}`);
    if (next !== null) {
      await ask(`/purchases?limit=1${filter}&after=${next}`);
    }
  }
  for (const list of ['/deposits', '/settlements', '/adjustments']) {
    await ask(list);
    for (const filter of [
      '',
      `&from=${day}&to=${day}`,
      `&from=${day}`,
      `&to=${day}`,
      '&account=buyer',
      `&account=seller&from=${day}&to=${day}`,
      `&account=seller&from=${day}`,
      `&account=seller&to=${day}`,
    ]) {
      const { next } = await ask(`${list}?status=all&limit=1${filter}`);
      if (next !== null) {
        await ask(`${list}?status=all&limit=1${filter}&after=${next}`);
      }
    }
  }
  for (const filter of ['', '&state=delivered', `&from=${day}`, '&ref_id=order-1']) {
    const { next } = await ask(`/deliveries?account=buyer&limit=1${filter}`);
    if (next !== null) {
      await ask(`/deliveries?account=buyer&limit=1${filter}&after=${next}`);
    }
  }
  const { purchases } = await ask('/purchases?status=SUCCESS');
  const [first] = purchases;
  for (const wanted of [first.id, first.ref_id, first.customer_number, '123456']) {
    await ask(`/search?q=${encodeURIComponent(wanted)}`);
  }
  for (const path of [
    '/today',
    '/receivers',
    '/deliveries',
    `/purchases/${first.id}`,
    `/purchases/${first.id}/as-customer-sees`,
    '/attention',
    '/accounts?prefix=b',
    '/accounts/seller',
  ]) {
    await ask(path);
  }
}
