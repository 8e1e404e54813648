/** Workbooks as other programs write them, and such as came to harm on the way. */
import { expect } from 'chai';
import { readPriceFile } from '../../src/providers/imports/read-price-file.js';
import { bookOf, priced, read, refusal, sheetOf } from './sheet.js';

describe('a workbook of prices of another program', () => {
  it('a tag as large as its part is refused as what it is; one with a long attribute is read', async () => {
    const attributes = (of: number, length: number) =>
      Array.from({ length: of }, (_, n) => ` a${n}="${'x'.repeat(length)}"`).join('');
    const sheet = (of: string) => bookOf(sheetOf(priced(2, 1)).replace('<worksheet>', `<worksheet${of}>`));
    for (const large of [attributes(16, 490_000), attributes(190, 40_000), attributes(1, 7_000_000)]) {
      expect(await refusal(sheet(large))).to.match(/is no XML/);
    }
    expect((await readPriceFile(sheet(attributes(1, 400_000)))).wanted).to.have.length(1);
    expect((await readPriceFile(sheet(attributes(150, 1_000)))).wanted).to.have.length(1);
  });
});
