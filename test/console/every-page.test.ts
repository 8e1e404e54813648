/**
 * Each console page passes the page checks and offers only the allowed changes, for each role and
 * width.
 *
 * Roles that see every page run in both languages, and the others in one. At full size, the others
 * run in both too. A role that sees every page loads each page in one language. The remaining runs
 * navigate without a page load, as links do.
 */
import { expect } from 'chai';
import { isAllowed, operatorRoles, rights, type OperatorRole } from '../../src/operators/rights.js';
import { addProduct } from '../providers/provider-stack.js';
import { sizes } from '../support/sizes.js';
import {
  restrictedPages,
  pagesWith,
  startConsoleBrowser,
  type ConsoleBrowser,
} from './support/console-browser.js';
import { callerAs, reason } from './support/console-caller.js';
import {
  findChangePermissions,
  offeredChanges,
  getOfferLocator,
  routesOfConsole,
} from './support/offered-changes.js';
import { expectPageToPassChecks } from './support/check-page.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';
import { describeWith } from '../support/require-tool.js';

const { isPlayed, allLanguages } = sizes.everyPage;

/** The locales of the console. */
const locales = ['en-GB', 'id-ID'];

/** Texts that a viewer must not see. Forms that change something also have the field `Reason`. */
const notForViewers = /^(Actions|Show statement|Operators)$/;

const seesEveryPage = (role: OperatorRole) => restrictedPages.every(({ action }) => isAllowed(role, action));

function languagesOf(role: OperatorRole): string[] {
  const turn = operatorRoles.indexOf(role) % locales.length;
  return seesEveryPage(role) || allLanguages ? locales : locales.slice(turn, turn + 1);
}

/** Returns whether a path matches a route. Each `:name` matches one segment, as in the router. */
function matches(route: string, path: string): boolean {
  return new RegExp(`^${route.replace(/:\w+/g, '[^/]+')}$`).test(path);
}

describe('changes that the pages offer', () => {
  it('cover every permission for a change that a page uses', () => {
    const tried = offeredChanges({ purchase: '', sold: '' }).map(({ action }) => action);
    const changes = tried.filter((action) => rights[action].kind === 'change');
    expect([...new Set(changes)].sort()).to.deep.equal(findChangePermissions());
  });

  for (const role of operatorRoles) {
    it(`${role} visits every allowed page and is refused every other`, () => {
      const seen = pagesWith({ purchase: 'p', job: 'j' }, role).map(([path]) => path);
      const refused = restrictedPages
        .filter(({ action }) => !isAllowed(role, action))
        .map(({ path }) => path);
      const visited = [...seen, ...refused].map((path) => path.split('?')[0] || '/');
      const missed = routesOfConsole().filter((route) => !visited.some((path) => matches(route, path)));
      expect(missed).to.deep.equal([]);
    });
  }

  it('are all on visited pages', () => {
    const visited = [
      '/purchases/p',
      ...pagesWith({ purchase: 'p', job: 'j' }, 'admin').map(([path]) => path),
    ];
    const paths = offeredChanges({ purchase: 'p', sold: 'p' }).map(({ path }) => path);
    expect(visited).to.include.members(paths);
  });
});

(isPlayed ? describe : describe.skip)('every page of the console', () => {
  describeWith('chromium', 'in a browser', function () {
    this.timeout(300_000);
    let shop: OperatedStack;
    let browser: ConsoleBrowser;
    let sold: string;
    let purchase: string;
    let job: string;

    before(async () => {
      shop = await startOperatedStack();
      browser = await startConsoleBrowser(shop);
      [sold, purchase, job] = [
        await shop.buySuccessfully(),
        await shop.buyUnderReview(),
        await shop.addUnreadableJob(),
      ];
      await shop.askForDeposit(250_000);
      await shop.askForSettlement({ amount: 120_000, accountNumber: '1234567890' });
      await shop.addOpenCase('to be closed');
      await shop.disableReceiverOf('buyer');
      await importPrices();
      // Set an allowlist, so that the account page offers to clear it.
      await shop.stack.db
        .collection('accounts')
        .updateOne({ username: 'buyer' }, { $set: { ipWhitelist: ['127.0.0.1'] } });
    });

    async function importPrices(): Promise<void> {
      const sellers = shop.stack.db.collection<{ _id: string }>('accounts');
      const seller = await sellers.findOne({ username: 'seller' });
      const code = await addProduct(shop.stack, [{ sellerId: seller?._id ?? '', price: 10_000 }]);
      const file = Buffer.from(`code,seller,price,cost\n${code},seller,10500,9000\n`).toString('base64');
      const finance = await callerAs(shop, 'finance');
      const { fingerprint } = await finance.ask('previewPriceImport', '/price-imports/preview', { file });
      const list = { file, name: 'list.csv', fingerprint, meant: false, reason };
      await finance.ask('applyPriceImport', '/price-imports', list);
    }

    after(async () => {
      await browser.close();
      await shop.stack.stop();
    });

    for (const role of operatorRoles) {
      it(`passes for ${role} in ${languagesOf(role).join(' and ')} and offers only allowed changes`, async () => {
        for (const locale of languagesOf(role)) {
          const { page } = await browser.logIn(role, locale);
          const changes = offeredChanges({ purchase, sold });
          for (const [path, english, indonesian] of [
            ...pagesWith({ purchase, job }, role),
            [`/purchases/${sold}`, /S10/, /S10/] as const,
          ]) {
            // Load the page once and then resize it, as when a phone is rotated.
            await page.setViewportSize({ width: 1_280, height: 800 });
            const isEnglish = locale === 'en-GB';
            const show = isEnglish && seesEveryPage(role) ? browser.open : browser.go;
            await show(page, path, isEnglish ? english : indonesian);
            for (const width of [1_280, 375]) {
              await page.setViewportSize({ width, height: 800 });
              await expectPageToPassChecks(page, `${role} ${locale} ${width} ${path}`);
              const withRights = page.getByLabel('Reason').or(page.getByText(notForViewers));
              expect(role === 'viewer' ? await withRights.count() : 0, `viewer ${path}`).to.equal(0);
              for (const change of changes.filter((each) => each.path === path)) {
                const shown = await getOfferLocator(page, change, locale).count();
                expect(shown > 0, `${role} ${path} ${change.name}`).to.equal(isAllowed(role, change.action));
              }
            }
          }
          await page.context().close();
        }
        for (const { path, action } of restrictedPages.filter((each) => !isAllowed(role, each.action))) {
          const caller = await callerAs(shop, role);
          const answer = await caller.client.get(`/admin${path}`);
          expect(answer.status, `${role} ${path} ${action}`).to.equal(403);
        }
        expect(browser.outside).to.deep.equal([]);
        expect(browser.reports).to.deep.equal([]);
      });
    }
  });
});
