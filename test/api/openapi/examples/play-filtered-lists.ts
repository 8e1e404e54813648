import type { Recorder } from './recorder.js';

/** Requests the lists with every filter that has its own index. */
export async function playFilteredLists(recorder: Recorder, key: string, depositRef: string): Promise<void> {
  const path = '/api/buyer/transactions';
  const history = (body: object) =>
    recorder.play('narrowed', { method: 'POST', path, key, body: { ...body, limit: 1 } });
  await history({ customer_number: '081234561230' });
  const tokens = await history({ code: 'PLN20', status: 'success' });
  await history({ sn: String(tokens.body.data.transactions[0].sn).slice(0, 24) });
  const deposits = '/api/buyer/deposits';
  await recorder.play('newest', { method: 'GET', path: `${deposits}?limit=2`, key });
  const ofOne = `${deposits}?ref_id=${depositRef}&status=completed`;
  await recorder.play('by ref_id', { method: 'GET', path: ofOne, key });
}

export async function listSettlements(recorder: Recorder, key: string): Promise<void> {
  const path = '/api/seller/settlements?status=completed&limit=2';
  await recorder.play('completed', { method: 'GET', path, key });
}
