/** Reports whose client or worker stops before the report is complete. */
import { expect } from 'chai';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { Redis } from 'ioredis';
import mongoose from 'mongoose';
import { request } from 'undici';
import { createDownloadToken } from '../../../src/reports/download-links.js';
import { apiClient, type ApiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { watchMemory } from '../../support/memory-watch.js';
import { startStack, type Stack } from '../../support/stack.js';
import { insertTransactions } from './support/bulk-transactions.js';

const count = 20_000;
const chunkBytes = 255 * 1024;

describe('interrupted reports', () => {
  let stack: Stack;
  let buyer: ApiClient;
  let buyerId: string;
  let key: string;

  before(async () => {
    stack = await startStack({ env: { REPORT_SYNC_WAIT_MS: '0' } });
    key = (await stack.seed())['buyer']?.api_key ?? '';
    buyer = apiClient(stack.baseUrl, key);
    buyerId = String((await stack.db.collection('accounts').findOne({ username: 'buyer' }))?._id);
  });
  after(async () => stack.stop());

  /** Stores a completed report with a file of `chunks` chunks. */
  async function storeReport(chunks: number): Promise<{ id: string; path: string }> {
    const { body } = await buyer.post('/api/buyer/reports', { type: 'transaction', format: 'csv' });
    const id = body.data.report_id as string;
    const size = chunks * chunkBytes;
    const bucket = new mongoose.mongo.GridFSBucket(stack.db, { bucketName: 'reportFiles' });
    const upload = bucket.openUploadStreamWithId(`${id}-1` as never, 'large.csv');
    for (let n = 0; n < chunks; n += 1) {
      upload.write(Buffer.alloc(chunkBytes, n));
    }
    upload.end();
    await once(upload, 'finish');
    await stack.db
      .collection('reports')
      .updateOne(
        { _id: id as never },
        { $set: { status: 'completed', epoch: 1, summary: {}, rows: 1, size, turn: null } },
      );
    return { id, path: `/api/buyer/reports/${id}/download` };
  }

  it('clients that stop reading leave no cursor and no file in memory', async () => {
    const clients = 20;
    const megabytes = 20;
    const { path } = await storeReport(Math.ceil((megabytes * 1024 * 1024) / chunkBytes));
    const status = () => stack.db.admin().serverStatus();
    const cursorsBefore: number = (await status())['metrics'].cursor.open.total;
    const server = await stack.startWeb();
    const memory = await watchMemory(server.pid);
    const readers = await Promise.all(
      Array.from({ length: clients }, async () => {
        const asked = get(server.url + path, { headers: { authorization: `Bearer ${key}` } });
        const [answer] = (await once(asked, 'response')) as [IncomingMessage];
        await once(answer, 'readable');
        expect(answer.statusCode).to.equal(200);
        return answer;
      }),
    );
    readers.forEach((answer) => answer.on('error', () => undefined).destroy());
    await eventually('no cursor is open', async () => {
      const now: number = (await status())['metrics'].cursor.open.total;
      return now <= cursorsBefore;
    });
    // The interrupted download does not affect the process: it still serves complete files.
    const whole = await request(server.url + path, { headers: { authorization: `Bearer ${key}` } });
    expect((await whole.body.arrayBuffer()).byteLength).to.equal(Number(whole.headers['content-length']));
    memory.stop();
    process.stdout.write(`      web: ${memory.growth().toFixed(0)} MB above idle\n`);
    expect(memory.growth(), `MB of growth by ${clients} readers of ${megabytes} MB`).to.be.below(100);
    await server.stop();
  });

  it('a missing chunk ends the download early, and the web process continues', async () => {
    const { id, path } = await storeReport(12);
    await stack.db.collection('reportFiles.chunks').deleteOne({ files_id: `${id}-1`, n: 10 });
    const answer = await request(stack.baseUrl + path, { headers: { authorization: `Bearer ${key}` } });
    const ended = await answer.body.arrayBuffer().then(
      () => 'whole',
      () => 'broken off',
    );
    expect(ended).to.equal('broken off');
    expect((await buyer.post('/api/buyer/balance')).status).to.equal(200);
  });

  it('a missing file causes an error response, not a broken connection', async () => {
    const { id, path } = await storeReport(1);
    await stack.db.collection('reportFiles.files').deleteOne({ _id: `${id}-1` as never });
    const answer = await request(stack.baseUrl + path, { headers: { authorization: `Bearer ${key}` } });
    expect(answer.statusCode).to.equal(500);
    expect(await answer.body.json()).to.include({ status: 'error', code: '01', data: null });
  });

  it('the next worker rebuilds the file of a killed one, and no download is partial', async () => {
    await insertTransactions(stack, { buyerId, sellerId: 'nobody', count });
    const first = await stack.startWorker('reports');
    const asked = await buyer.post('/api/buyer/reports', { type: 'transaction', format: 'csv' });
    const id = asked.body.data.report_id as string;
    const chunksOf = (epoch: number) =>
      stack.db.collection('reportFiles.chunks').countDocuments({ files_id: `${id}-${epoch}` });
    await eventually('the first chunk is stored', async () => (await chunksOf(1)) > 0);
    await first.stop('SIGKILL');
    expect(await stack.db.collection('reports').findOne({ _id: id as never })).to.include({
      status: 'processing',
      epoch: 1,
    });

    await deleteLock(stack, id);
    await stack.startWorker('reports');
    const path = `/api/buyer/reports/${id}`;
    const token = createDownloadToken({ report: { _id: id }, account: {} }, new Date(Date.now() + 60_000));
    const seen = new Set<string>();
    const file = await eventually('the report can be downloaded', async () => {
      const files = await Promise.all([
        request(`${stack.baseUrl}${path}/download`, { headers: { authorization: `Bearer ${key}` } }),
        request(`${stack.baseUrl}${path}/download?token=${token}`),
      ]);
      const texts = await Promise.all(files.map(({ body }) => body.text().catch(() => 'broken off')));
      texts.forEach((text, index) => seen.add(`${files[index]?.statusCode ?? 0}: ${linesOf(text)} lines`));
      return files.every(({ statusCode }) => statusCode === 200) && texts[0];
    });
    expect([...seen], 'missing or complete').to.deep.equal(['404: 0 lines', `200: ${count + 1} lines`]);
    expect(new Set(file.split('\r\n')).size, 'every row once, the header and the end').to.equal(count + 2);
    const { body } = await buyer.get(path);
    expect(body.data).to.include({ rows: count, size: Buffer.byteLength(file) });
    const stored = await stack.db
      .collection('reportFiles.files')
      .find({ filename: body.data.filename })
      .toArray();
    expect(stored.map(({ _id }) => String(_id))).to.deep.equal([`${id}-2`]);
    expect(await chunksOf(1), 'chunks of the killed attempt').to.equal(0);
    expect(await chunksOf(2)).to.be.greaterThan(5);
  });
});

/** Deletes the lock that a killed worker left, instead of waiting some seconds until it expires. */
async function deleteLock({ env }: Stack, reportId: string): Promise<void> {
  const redis = new Redis(env['REDIS_URL'] ?? '');
  const queue = `${env['QUEUE_PREFIX'] ?? ''}:reports`;
  const jobId = await redis.get(`${queue}:de:reports:${reportId}`);
  expect(await redis.del(`${queue}:${jobId ?? ''}:lock`)).to.equal(1);
  redis.disconnect();
}

/** Returns the number of lines of a CSV text. An undefined text has 0 lines. */
function linesOf(text = ''): number {
  return text.startsWith('ref_id,') ? text.split('\r\n').length - 1 : 0;
}
