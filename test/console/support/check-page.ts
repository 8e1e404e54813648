import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { projectRoot } from '../../../config/project-file.js';

const axe = readFileSync(join(projectRoot, 'node_modules/axe-core/axe.min.js'), 'utf8');
/** If SCREENSHOTS is a folder, each page is saved there as an image. */
const screenshots = process.env['SCREENSHOTS'];

/**
 * Expects that axe finds no serious problem, that each label has a value, and that the page does
 * not scroll horizontally.
 * @param exclude Selectors for third-party content.
 */
export async function expectPageToPassChecks(
  page: Page,
  name: string,
  exclude: string[] = [],
): Promise<void> {
  if (screenshots !== undefined) {
    await page.screenshot({ path: join(screenshots, `${name.replaceAll('/', '-')}.png`), fullPage: true });
  }
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) {
    await page.evaluate(axe);
  }
  const violations = await page.evaluate(async (notOurs) => {
    const { axe: checker } = globalThis as unknown as {
      axe: {
        run(context: {
          exclude: string[];
        }): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>;
      };
    };
    const found = await checker.run({ exclude: notOurs });
    return found.violations
      .filter(({ impact }) => ['serious', 'critical'].includes(impact))
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  }, exclude);
  expect(violations, name).to.deep.equal([]);
  const unsaid = await page.evaluate<string[]>(
    "[...document.querySelectorAll('dd')].filter((each) => !each.textContent.trim()).map((each) => each.previousElementSibling?.textContent)",
  );
  expect(unsaid, `${name}: named without a value`).to.deep.equal([]);
  const overflow = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect(overflow, `${name}: scrolls sideways`).to.be.at.most(0);
}
