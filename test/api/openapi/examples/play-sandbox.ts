import { eventually } from '../../../support/eventually.js';
import type { Recorder } from './recorder.js';

/** Makes the sandbox calls. The transaction stays pending until the test ends it. */
export async function playSandbox(recorder: Recorder, key: string): Promise<void> {
  await recorder.play('stories', { method: 'GET', path: '/api/sandbox/scenarios', key });
  await recorder.play('all of it', { method: 'POST', path: '/api/sandbox/advance', key });
  const order = { code: 'S10', customer_number: '081234561238', ref_id: 'order-20240301-0008' };
  const end = {
    method: 'POST' as const,
    path: `/api/sandbox/transactions/${order.ref_id}/end`,
    key,
    body: { result: 'success' },
  };
  await recorder.play('accepted', { method: 'POST', path: '/api/buyer/transaction', key, body: order });
  await eventually('the simulator has the order', async () => {
    const { status } = await recorder.play('asked for', end);
    return status === 200;
  });
  await eventually('the transaction has ended', async () => {
    const { body } = await recorder.play('ended', end);
    return body.code === '00';
  });
}
