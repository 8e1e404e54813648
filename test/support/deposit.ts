import { uniqueRef, type ApiClient } from './api-client.js';
import { eventually } from './eventually.js';

/**
 * Makes a deposit for a buyer. Repeats it with the same ref_id after a 503, which a busy machine
 * can cause.
 */
export async function deposit(buyer: ApiClient, amount: number): Promise<void> {
  const asked = { amount, ref_id: uniqueRef('deposit') };
  await eventually('the deposit is completed', async () => {
    const { status, body } = await buyer.post('/api/buyer/deposit', asked);
    const { data } = body as { data: { status: string } | null };
    return (
      (status === 200 && data?.status === 'completed') || Promise.reject(new Error(JSON.stringify(body)))
    );
  });
}
