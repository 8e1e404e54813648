/** Made-up statements in the public layouts of Indonesian banks, each with its result. */
import { expect } from 'chai';
import { readBankStatement } from '../../../src/deposits/bank/read-bank-statement.js';
import { corpusDay, readCorpus } from './corpus.js';

describe('the corpus of bank statements', () => {
  for (const { name, text, expected } of readCorpus()) {
    it(`${name} gives exactly its expected lines`, async () => {
      const { incoming, outgoing, others, refused } = await readBankStatement(Buffer.from(text));
      const lines = incoming.map(({ line, amount, description }) => ({ line, amount, description }));
      expect({ incoming: lines, outgoing, others, refused }).to.deep.equal(expected);
      expect(new Set(incoming.map(({ day }) => day))).to.deep.equal(new Set([corpusDay]));
    });
  }
});
