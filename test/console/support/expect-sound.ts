import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { projectRoot } from '../../../config/project-file.js';

const axe = readFileSync(join(projectRoot, 'node_modules/axe-core/axe.min.js'), 'utf8');
/** SCREENSHOTS=<folder> saves each page as a picture. */
const screenshots = process.env['SCREENSHOTS'];

/**
 * Expects no serious finding of axe, no label without a value, and no horizontal scrolling. @param
 * exclude Selectors of third-party content.
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
