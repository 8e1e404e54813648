import { createBrowserRouter } from 'react-router';
import { LoadingState } from '../parts/states.js';
import { OverviewPage } from './pages/overview-page.js';
import { RequestsPage } from './pages/requests-page.js';
import { SandboxPage } from './pages/sandbox-page.js';
import { SettingsPage } from './pages/settings-page.js';
import { StatementPage } from './pages/statement-page.js';
import { EndpointsPage } from './pages/endpoints-page.js';
import { PortalShell } from './shell.js';

/**
 * The pages of the portal. The server sends the same HTML file for every path below `/portal`
 * (src/api/portal/routes.ts).
 */
export const router = createBrowserRouter(
  [
    {
      element: <PortalShell />,
      hydrateFallbackElement: <LoadingState error={null} retry={() => undefined} />,
      children: [
        { path: '/', element: <OverviewPage /> },
        { path: '/requests', element: <RequestsPage /> },
        { path: '/webhooks', element: <EndpointsPage /> },
        { path: '/statement', element: <StatementPage /> },
        { path: '/sandbox', element: <SandboxPage /> },
        { path: '/settings', element: <SettingsPage /> },
        { path: '*', element: <OverviewPage /> },
      ],
    },
  ],
  { basename: '/portal' },
);
