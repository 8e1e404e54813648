/**
 * The separate process for not-sent.test.ts, whose memory that test measures. It reads the price
 * list at the given address.
 */
import { createDigiflazzAdapter } from '../../src/providers/digiflazz.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { newId } from '../../src/shared/ids.js';

const adapter = createDigiflazzAdapter(() => undefined);
void main();

async function main(): Promise<void> {
  redis();
  await connectRedis();
  process.on('message', ({ baseUrl, wanted }: { baseUrl: string; wanted: string[] }) => {
    const connection = { sellerId: newId(), baseUrl, username: 'us', secret: 'secret' };
    void adapter
      .priceList(connection, (code) => wanted.includes(code))
      .then((list) => process.send?.({ codes: list.ok ? list.value.map(({ code }) => code) : list.code }));
  });
  process.on('disconnect', () => void disconnectRedis());
  process.send?.({ ready: true });
}
