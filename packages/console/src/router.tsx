import { createBrowserRouter } from 'react-router';
import { AccountPage } from './pages/account-page.js';
import { AccountsPage } from './pages/accounts-page.js';
import { CasesPage } from './pages/cases-page.js';
import { PurchasePage } from './pages/purchase-page.js';
import { PurchasesPage } from './pages/purchases-page.js';
import { Shell } from './shell.js';

/** Each of them is also a route of src/console/console-routes.ts, which answers it with this page. */
export const router = createBrowserRouter(
  [
    {
      element: <Shell />,
      children: [
        { path: '/purchases', element: <PurchasesPage /> },
        { path: '/purchases/:id', element: <PurchasePage /> },
        { path: '/cases', element: <CasesPage /> },
        { path: '/accounts', element: <AccountsPage /> },
        { path: '/accounts/:username', element: <AccountPage /> },
      ],
    },
  ],
  { basename: '/admin' },
);
