import { createBrowserRouter } from 'react-router';
import { AccountPage } from './pages/account-page.js';
import { AccountsPage } from './pages/accounts-page.js';
import { CasesPage } from './pages/cases-page.js';
import { DepositsPage } from './pages/deposits-page.js';
import { PurchasePage } from './pages/purchase-page.js';
import { PurchasesPage } from './pages/purchases-page.js';
import { SettlementsPage } from './pages/settlements-page.js';
import { TodayPage } from './pages/today-page.js';
import { WebhooksPage } from './pages/webhooks-page.js';
import { Shell } from './shell.js';

/** Each of them is also a route of src/console/console-routes.ts, which answers it with this page. */
export const router = createBrowserRouter(
  [
    {
      element: <Shell />,
      children: [
        { path: '/', element: <TodayPage /> },
        { path: '/purchases', element: <PurchasesPage /> },
        { path: '/purchases/:id', element: <PurchasePage /> },
        { path: '/cases', element: <CasesPage /> },
        { path: '/deposits', element: <DepositsPage /> },
        { path: '/settlements', element: <SettlementsPage /> },
        { path: '/webhooks', element: <WebhooksPage /> },
        { path: '/accounts', element: <AccountsPage /> },
        { path: '/accounts/:username', element: <AccountPage /> },
      ],
    },
  ],
  { basename: '/admin' },
);
