import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect } from 'chai';
import { GridFSBucket } from 'mongodb';
import { errorOf, startFixture, stopFixture, type Fixture } from './harness.js';

describe('GridFS', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  it('a file of 50 MB can be streamed in both directions and deleted', async () => {
    const bucket = new GridFSBucket(fixture.db);
    const block = randomBytes(1 << 20);
    const sent = createHash('sha256');
    const upload = bucket.openUploadStream('large', { metadata: { kind: 'report' } });
    const blocks = Array.from({ length: 50 }, (_, i) => {
      block.writeInt32LE(i, 0);
      return Buffer.from(block);
    });
    blocks.forEach((each) => sent.update(each));
    await pipeline(Readable.from(blocks), upload);
    const received = createHash('sha256');
    let bytes = 0;
    for await (const chunk of bucket.openDownloadStreamByName('large')) {
      received.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
    expect(bytes).to.equal(50 << 20);
    expect(received.digest('hex')).to.equal(sent.digest('hex'));
    const [file] = await bucket.find({ filename: 'large' }).toArray();
    expect(file).to.deep.include({ length: 50 << 20, metadata: { kind: 'report' } });
    await bucket.delete(upload.id);
    expect(await fixture.db.collection('fs.chunks').countDocuments()).to.equal(0);
    const gone = bucket.openDownloadStream(upload.id);
    expect((await errorOf(gone.toArray())).message).to.contain('FileNotFound');
  });
});
