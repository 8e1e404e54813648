import type { Page } from 'playwright-core';
import { eventually } from '../../support/eventually.js';

/** Waits until a page of the console or portal shows this heading. */
export async function waitUntilLoaded(page: Page, heading: string | RegExp): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await eventually('the page is loaded', async () => (await page.getByRole('progressbar').count()) === 0);
}
