/** The console without a mouse, and pages that stay where they are while they load. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.js';
import { pagesWith, startConsoleBrowser, type ConsoleBrowser } from './support/console-browser.js';
import { reason } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';
import { describeWith } from '../support/require-tool.js';

/** What Google calls good. */
const layoutShiftMax = 0.1;

describeWith('chromium', 'the console under the hand', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let browser: ConsoleBrowser;

  before(async () => {
    shop = await startOperatedStack();
    browser = await startConsoleBrowser(shop);
  });
  after(async () => {
    await browser.close();
    await shop.stack.stop();
  });

  /** Of a control that has the focus: how it is called, and whether one sees that it has it. */
  const seenFocus = `(at) => {
      // What goes around an input shows it where the input has no border of its own.
      const around = [at, at.parentElement];
      const look = () => {
        for (const change of around.flatMap((each) => each.getAnimations())) {
          if (change instanceof CSSTransition) {
            change.finish();
          }
        }
        const { outlineStyle, outlineWidth } = getComputedStyle(at);
        const borderColor = around.map((each) => getComputedStyle(each).borderColor).join();
        return { borderColor, isOutlined: outlineStyle !== 'none' && parseFloat(outlineWidth) > 0 };
      };
      const within = look();
      at.blur();
      const without = look();
      at.focus({ focusVisible: true });
      const name = at.labels?.[0]?.textContent ?? at.getAttribute('aria-label') ?? at.textContent ?? '';
      return {
        name: name.trim(),
        isVisible: within.isOutlined || within.borderColor !== without.borderColor,
      };
    }`;
  interface SeenFocus {
    name: string;
    isVisible: boolean;
  }
  const focused = (page: Page) => page.evaluate<SeenFocus>(`(${seenFocus})(document.activeElement)`);
  /** Each in its turn. Not by Tab, which stays within the parts of a date. */
  const allFocused = (page: Page) =>
    page.evaluate<
      SeenFocus[]
    >(`[...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
        .filter((at) => at.checkVisibility({ visibilityProperty: true }) && at.getClientRects().length > 0 && !at.matches(':disabled'))
        .map((at) => {
          at.focus({ focusVisible: true });
          return (${seenFocus})(at);
        })`);

  /** Presses Tab until something of this name has the focus; each on the way must show that it has it. */
  async function tabTo(page: Page, name: RegExp): Promise<void> {
    const passed: string[] = [];
    for (let n = 0; n < 120; n += 1) {
      await page.keyboard.press('Tab');
      const at = await focused(page);
      expect(at.isVisible, `the focus is seen on “${at.name}”`).to.equal(true);
      if (name.test(at.name)) {
        return;
      }
      passed.push(at.name);
    }
    throw new Error(`Tab never came to ${String(name)}, but to ${passed.join(', ')}`);
  }

  it('an order under review is searched, opened and decided without a mouse', async () => {
    const { page } = await browser.logIn('finance');
    const id = await shop.underReview();
    const refId = (await shop.purchaseOf(id))?.refId ?? '';
    await browser.open(page, '/purchases', 'Purchases');
    await tabTo(page, /^Find/);
    await page.keyboard.press('Enter');
    // The focus goes into what opens a moment after it is seen, and back from where it is.
    const search = page.getByRole('textbox', { name: 'Find' }).and(page.locator(':focus'));
    await search.waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'Find' }).waitFor({ state: 'detached' });
    await eventually('the focus to be back', async () => /^Find/.test((await focused(page)).name));

    await page.keyboard.press('Control+k');
    // What is typed while it still opens goes elsewhere.
    await search.waitFor();
    await page.keyboard.type(refId);
    await page.getByRole('button', { name: new RegExp(refId) }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/admin/purchases/${id}$`));
    await page.getByRole('region', { name: 'Decide: it was not executed' }).waitFor();

    for (;;) {
      await tabTo(page, /^Reason/);
      const form = await page.evaluate<string>(
        `document.activeElement.closest('section[aria-label]')?.getAttribute('aria-label') ?? ''`,
      );
      if (form === 'Decide: it was not executed') {
        break;
      }
    }
    await page.keyboard.type(reason);
    await tabTo(page, /^Decide: it was not executed$/);
    await page.keyboard.press('Enter');
    await eventually('FAILED', async () => (await shop.purchaseOf(id))?.status === 'FAILED');
    await page.getByText('FAILED', { exact: true }).first().waitFor();
  });

  it('each control of each page shows that it has the focus', async () => {
    const { page } = await browser.logIn('admin');
    const [purchase, job] = [await shop.underReview(), await shop.setAside()];
    for (const [path, heading] of pagesWith({ purchase, job }, 'admin')) {
      await browser.open(page, path, heading);
      const seen = await allFocused(page);
      expect(
        seen.filter(({ isVisible }) => !isVisible),
        path,
      ).to.deep.equal([]);
      // The menu alone has as many.
      expect(seen, path).to.have.length.greaterThan(10);
    }
  });

  it('no page moves what one is about to press while it loads', async () => {
    const { page } = await browser.logIn('admin');
    const id = await shop.underReview();
    await page.addInitScript(`
        globalThis.shifts = [];
        new PerformanceObserver((list) => {
          for (const { value, hadRecentInput, sources } of list.getEntries()) {
            if (!hadRecentInput) {
              const what = sources.map(({ node }) => (node?.outerHTML ?? node?.textContent ?? '').slice(0, 80));
              globalThis.shifts.push({ value, what });
            }
          }
        }).observe({ type: 'layout-shift', buffered: true });
      `);
    const moved: string[] = [];
    for (const [path, heading] of pagesWith({ purchase: id, job: await shop.setAside() }, 'admin')) {
      await browser.open(page, path, heading);
      // What was shifted is told with the frame that shows it.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      const shifts = await page.evaluate<{ value: number; what: string[] }[]>('globalThis.shifts');
      const sum = shifts.reduce((all, { value }) => all + value, 0);
      if (sum >= layoutShiftMax) {
        moved.push(`${path}: ${sum} ${JSON.stringify(shifts)}`);
      }
    }
    expect(moved).to.deep.equal([]);
  });
});
