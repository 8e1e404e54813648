/** Keyboard use of the console, and the absence of layout shifts while pages load. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.js';
import { pagesWith, startConsoleBrowser, type ConsoleBrowser } from './support/console-browser.js';
import { reason } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';
import { describeWith } from '../support/require-tool.js';

/** Google's threshold for a good Cumulative Layout Shift score. */
const layoutShiftMax = 0.1;

describeWith('chromium', 'keyboard and layout of the console', function () {
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

  /** Returns the name of the focused control, and whether its focus indicator is visible. */
  const seenFocus = `(at) => {
      // An input without its own border shows its focus on the surrounding element.
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
  /** Focuses every control in turn. The Tab key would stop at each part of a date input. */
  const allFocused = (page: Page) =>
    page.evaluate<
      SeenFocus[]
    >(`[...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
        .filter((at) => at.checkVisibility({ visibilityProperty: true }) && at.getClientRects().length > 0 && !at.matches(':disabled'))
        .map((at) => {
          at.focus({ focusVisible: true });
          return (${seenFocus})(at);
        })`);

  /**
   * Presses Tab until the control with this name has the focus. Every control before it must have a
   * visible focus indicator.
   */
  async function tabTo(page: Page, name: RegExp): Promise<void> {
    const passed: string[] = [];
    for (let n = 0; n < 120; n += 1) {
      await page.keyboard.press('Tab');
      const at = await focused(page);
      expect(at.isVisible, `visible focus of “${at.name}”`).to.equal(true);
      if (name.test(at.name)) {
        return;
      }
      passed.push(at.name);
    }
    throw new Error(`Tab never reached ${String(name)}, only ${passed.join(', ')}`);
  }

  it('finds, opens and decides a purchase under review by keyboard', async () => {
    const { page } = await browser.logIn('finance');
    const id = await shop.buyUnderReview();
    const refId = (await shop.purchaseOf(id))?.refId ?? '';
    await browser.open(page, '/purchases', 'Purchases');
    await tabTo(page, /^Find/);
    await page.keyboard.press('Enter');
    // The dialog takes the focus a moment after it appears.
    const search = page.getByRole('textbox', { name: 'Find' }).and(page.locator(':focus'));
    await search.waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'Find' }).waitFor({ state: 'detached' });
    await eventually('the focus is back', async () => /^Find/.test((await focused(page)).name));

    await page.keyboard.press('Control+k');
    // Keys that are pressed before the dialog opens reach the page below.
    await search.waitFor();
    await page.keyboard.type(refId);
    await page.getByRole('button', { name: new RegExp(refId) }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/admin/purchases/${id}$`));
    await page.getByRole('region', { name: 'Mark as failed' }).waitFor();

    for (;;) {
      await tabTo(page, /^Reason/);
      const form = await page.evaluate<string>(
        `document.activeElement.closest('section[aria-label]')?.getAttribute('aria-label') ?? ''`,
      );
      if (form === 'Mark as failed') {
        break;
      }
    }
    await page.keyboard.type(reason);
    await tabTo(page, /^Mark as failed$/);
    await page.keyboard.press('Enter');
    await eventually('the purchase is FAILED', async () => (await shop.purchaseOf(id))?.status === 'FAILED');
    await page.getByText('FAILED', { exact: true }).first().waitFor();
  });

  it('every control of every page shows its focus', async () => {
    const { page } = await browser.logIn('admin');
    const [purchase, job] = [await shop.buyUnderReview(), await shop.addUnreadableJob()];
    for (const [path, heading] of pagesWith({ purchase, job }, 'admin')) {
      await browser.open(page, path, heading);
      const seen = await allFocused(page);
      expect(
        seen.filter(({ isVisible }) => !isVisible),
        path,
      ).to.deep.equal([]);
      // The menu alone has more than ten controls.
      expect(seen, path).to.have.length.greaterThan(10);
    }
  });

  it('no page shifts its controls while it loads', async () => {
    const { page } = await browser.logIn('admin');
    const id = await shop.buyUnderReview();
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
    for (const [path, heading] of pagesWith({ purchase: id, job: await shop.addUnreadableJob() }, 'admin')) {
      await browser.open(page, path, heading);
      // The browser reports a layout shift together with the frame that shows it, so wait for two
      // frames.
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
