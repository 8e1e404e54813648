/** Each page of the console for each role, in each width and language: sound, and with nothing that the role may not do. */
import { expect } from 'chai';

import { isAllowed, operatorRoles, type OperatorAction } from '../../src/operators/rights.js';
import { sizes } from '../support/sizes.js';
import {
  chromiumProgram,
  pagesWith,
  startConsoleBrowser,
  type ConsoleBrowser,
} from './support/console-browser.js';
import { expectSound } from './support/expect-sound.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';

const isPlayed = sizes.everyPage.isPlayed && chromiumProgram !== null;

/** What changes something, by its page and how it is called there; one for each right that the pages ask for. */
const changes: [string, RegExp, OperatorAction][] = [
  ['/products/S10', /^(Change the offer|Ubah penawaran)/, 'product.set'],
  ['/providers/seller', /^(Pause the provider|Jeda provider)/, 'provider.steer'],
  ['/providers/seller', /^(Set limits|Atur batas)/, 'provider.set'],
  ['/providers/seller', /^(Test call|Panggilan uji)/, 'provider.float'],
  ['/ledger', /^(Verify now|Verifikasi sekarang)/, 'ledger.run'],
  ['/system', /^(Run .* again|Jalankan lagi )/, 'queue.work'],
];

(isPlayed ? describe : describe.skip)('every page of the console', function () {
  this.timeout(300_000);
  let shop: OperatedStack;
  let browser: ConsoleBrowser;
  let sold: string;

  before(async () => {
    shop = await startOperatedStack();
    browser = await startConsoleBrowser(shop);
    sold = await shop.sold();
    await shop.setAside();
  });
  after(async () => {
    await browser.close();
    await shop.stack.stop();
  });

  for (const role of operatorRoles) {
    it(`is sound for ${role}, in both languages and widths, with what this role may do and nothing else`, async () => {
      for (const locale of ['en-GB', 'id-ID']) {
        const { page } = await browser.logIn(role, locale);
        for (const width of [1_280, 375]) {
          await page.setViewportSize({ width, height: 800 });
          for (const [path, english, indonesian] of pagesWith(sold)) {
            await browser.open(page, path, locale === 'en-GB' ? english : indonesian);
            await expectSound(page, `${role} ${locale} ${width} ${path}`);
            for (const [, name, action] of changes.filter(([where]) => where === path)) {
              const shown = await page.getByRole('region', { name }).count();
              expect(shown > 0, `${role} ${path} ${action}`).to.equal(isAllowed(role, action));
            }
          }
        }
        await page.context().close();
      }
      expect(browser.outside).to.deep.equal([]);
      expect(browser.reports).to.deep.equal([]);
    });
  }
});
