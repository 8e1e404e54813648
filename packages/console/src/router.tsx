import { createBrowserRouter, type RouteObject } from 'react-router';
import { LoadingState } from './parts/states.js';
import { Shell } from './shell.js';

type Page = () => React.ReactElement;

/** Builds the route of a page. Its code is loaded when the page is opened for the first time. */
function page(path: string, load: () => Promise<Page>): RouteObject {
  return { path, lazy: async () => ({ Component: await load() }) };
}

/**
 * The pages of the console. The server needs the same paths in src/console/console-routes.ts,
 * because it sends the HTML file only for known paths.
 */
export const router = createBrowserRouter(
  [
    {
      element: <Shell />,
      hydrateFallbackElement: <LoadingState error={null} retry={() => undefined} />,
      children: [
        page('/', async () => (await import('./pages/today-page.js')).TodayPage),
        page('/purchases', async () => (await import('./pages/purchases-page.js')).PurchasesPage),
        page('/purchases/:id', async () => (await import('./pages/purchase-page.js')).PurchasePage),
        page('/cases', async () => (await import('./pages/cases-page.js')).CasesPage),
        page('/deposits', async () => (await import('./pages/deposits-page.js')).DepositsPage),
        page('/bank-lines', async () => (await import('./pages/bank-lines-page.js')).BankLinesPage),
        page('/settlements', async () => (await import('./pages/settlements-page.js')).SettlementsPage),
        page('/adjustments', async () => (await import('./pages/adjustments-page.js')).AdjustmentsPage),
        page('/products', async () => (await import('./pages/products-page.js')).ProductsPage),
        page('/products/:code', async () => (await import('./pages/product-page.js')).ProductPage),
        page('/price-imports', async () => (await import('./pages/price-imports-page.js')).PriceImportsPage),
        page('/markups', async () => (await import('./pages/markups-page.js')).MarkupsPage),
        page('/providers', async () => (await import('./pages/providers-page.js')).ProvidersPage),
        page('/providers/:seller', async () => (await import('./pages/provider-page.js')).ProviderPage),
        page('/webhooks', async () => (await import('./pages/webhooks-page.js')).WebhooksPage),
        page('/ledger', async () => (await import('./pages/ledger-page.js')).LedgerPage),
        page('/system', async () => (await import('./pages/system-page.js')).SystemPage),
        page('/jobs', async () => (await import('./pages/jobs-page.js')).JobsPage),
        page('/jobs/:id', async () => (await import('./pages/job-page.js')).JobPage),
        page('/audit', async () => (await import('./pages/audit-page.js')).AuditPage),
        page('/operators', async () => (await import('./pages/operators-page.js')).OperatorsPage),
        page('/me', async () => (await import('./pages/own-page.js')).OwnPage),
        page('/accounts', async () => (await import('./pages/accounts-page.js')).AccountsPage),
        page('/accounts/:username', async () => (await import('./pages/account-page.js')).AccountPage),
      ],
    },
  ],
  { basename: '/admin' },
);
