/**
 * The changes that the console pages offer, each with its permission. Which role may make them is
 * defined by the rights table.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { projectRoot } from '../../../config/project-file.js';
import { texts } from '../../../packages/console/src/text/texts.js';
import { rights, type OperatorAction } from '../../../src/operators/rights.js';

type TextKey = keyof typeof texts;

export interface OfferedChange {
  action: OperatorAction;
  path: string;
  /** The name of the form, or of the button that opens a list row's forms. */
  name: TextKey;
  /**
   * The list row that contains the offer. Its kind, or a pattern for the start of its name in every
   * language.
   */
  row?: TextKey | RegExp;
}

/**
 * Returns the changes that the pages offer.
 * @param changes.purchase The id of a purchase under review.
 * @param changes.sold The id of a purchase that can be reversed and has a delivered webhook.
 */
export const offeredChanges = ({ purchase, sold }: { purchase: string; sold: string }): OfferedChange[] => [
  { action: 'review.resolve', path: `/purchases/${purchase}`, name: 'decideFailed' },
  { action: 'review.reverse', path: `/purchases/${sold}`, name: 'reverse' },
  { action: 'webhook.replay', path: `/purchases/${sold}`, name: 'replay' },
  { action: 'review.resolve', path: '/cases', row: 'kind_review', name: 'actions' },
  { action: 'case.resolve', path: '/cases', row: 'kind_reversal', name: 'actions' },
  { action: 'deposit.decide', path: '/deposits?status=all', row: 'deposit', name: 'actions' },
  { action: 'settlement.decide', path: '/settlements?status=all', row: 'settlement', name: 'actions' },
  { action: 'product.set', path: '/products/S10', name: 'setOffer' },
  { action: 'product.set', path: '/products/S10', name: 'setCutOff' },
  { action: 'price-import.look', path: '/price-imports', name: 'previewImport' },
  { action: 'product.set', path: '/price-imports', name: 'undoImport' },
  { action: 'markup.set', path: '/markups', name: 'setMarkup' },
  { action: 'provider.steer', path: '/providers/seller', name: 'pauseProvider' },
  { action: 'provider.set', path: '/providers/seller', name: 'setLimits' },
  { action: 'provider.float', path: '/providers/seller', name: 'testProvider' },
  { action: 'webhook.enable', path: '/webhooks?account=buyer', row: 'receiver', name: 'actions' },
  {
    action: 'webhook.replay',
    path: '/webhooks?account=buyer',
    row: /^transaction\.success /,
    name: 'actions',
  },
  { action: 'ledger.run', path: '/ledger', name: 'verifyNow' },
  { action: 'queue.work', path: '/system', name: 'retryJob' },
  { action: 'adjustment.make', path: '/adjustments?status=all', name: 'correctWallet' },
  { action: 'account.create', path: '/accounts', name: 'createAccount' },
  { action: 'account.suspend', path: '/accounts/buyer', name: 'suspend' },
  { action: 'account.clear-allowlist', path: '/accounts/buyer', name: 'clearAllowlist' },
  { action: 'account.revoke-links', path: '/accounts/buyer', name: 'revokeLinks' },
  { action: 'account.set', path: '/accounts/buyer', name: 'setRules' },
  { action: 'markup.set', path: '/accounts/buyer', name: 'setPriceGroup' },
  { action: 'account.key', path: '/accounts/buyer', name: 'newKey' },
  { action: 'operator.end-sessions', path: '/operators', row: 'operatorNamed', name: 'actions' },
  { action: 'operator.manage', path: '/operators', name: 'createOperator' },
];

/** Returns a locator for the form or button. */
export function getOfferLocator(page: Page, { name, row }: OfferedChange, locale: string): Locator {
  const say = (key: TextKey) => startOf(texts[key][locale === 'en-GB' ? 'en' : 'id']);
  return row === undefined
    ? page.getByRole('region', { name: say(name) })
    : page
        .getByRole('article', { name: row instanceof RegExp ? row : say(row) })
        .getByRole('button', { name: say(name) });
}

/** Returns a pattern that matches the text up to its first placeholder. */
function startOf(text: string): RegExp {
  const [start = ''] = text.split('{');
  return new RegExp(`^${start.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`);
}

/**
 * Permissions whose form appears only after another action. A day's differences can be accepted
 * only after a comparison.
 */
const shownLater: ReadonlySet<OperatorAction> = new Set(['provider.accept']);

const pages = join(projectRoot, 'packages/console/src');

/** Returns every permission for a change that a page checks when it loads. */
export function findChangePermissions(): OperatorAction[] {
  const sources = readdirSync(pages, { recursive: true, encoding: 'utf8' }).filter((each) =>
    each.endsWith('.tsx'),
  );
  const asked = sources.flatMap((each) =>
    [...readFileSync(join(pages, each), 'utf8').matchAll(/useMay\('([a-z.-]+)'\)/g)].map(
      ([, action]) => action as OperatorAction,
    ),
  );
  return [...new Set(asked)]
    .filter((action) => rights[action].kind === 'change' && !shownLater.has(action))
    .sort();
}

/** Returns every route that router.tsx defines. */
export function routesOfConsole(): string[] {
  const source = readFileSync(join(pages, 'router.tsx'), 'utf8');
  return [...source.matchAll(/\bpage\('([^']+)'/g)].map(([, path = '']) => path);
}
