import { expect } from 'chai';
import { readDigiflazzCorpus, startCorpusReader } from './digiflazz-corpus.js';

describe('documented responses of Digiflazz', () => {
  let reader: Awaited<ReturnType<typeof startCorpusReader>>;
  before(async () => (reader = await startCorpusReader()));
  after(() => reader.stop());

  for (const { name, call, response, expected } of readDigiflazzCorpus()) {
    it(`${call} reads ${name} as expected`, async () => {
      expect(await reader.read(call, response)).to.deep.equal(expected);
    });
  }

  it('a balance with a fraction or as text is noted in whole rupiah', async () => {
    reader.floats.length = 0;
    const names = ['prepaid-fraction-of-a-rupiah', 'prepaid-numbers-as-text', 'bill-amounts-as-text'];
    for (const wanted of names) {
      for (const { call, response } of readDigiflazzCorpus().filter(({ name }) => name === wanted)) {
        await reader.read(call, response);
      }
    }
    expect(reader.floats).to.deep.equal([990_000, 990_000, 100_000]);
  });
});
