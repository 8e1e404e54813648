import { uniqueRef, type ApiClient } from './api-client.js';
import { eventually } from './eventually.js';

/** Gives a buyer money, as a client would that never loses a rupiah: a 503 of a busy machine is asked again by its ref_id. */
export async function deposit(buyer: ApiClient, amount: number): Promise<void> {
  const asked = { amount, ref_id: uniqueRef('deposit') };
  await eventually('the deposit to be completed', async () => {
    const { status, body } = await buyer.post('/api/buyer/deposit', asked);
    const { data } = body as { data: { status: string } | null };
    return (
      (status === 200 && data?.status === 'completed') || Promise.reject(new Error(JSON.stringify(body)))
    );
  });
}
