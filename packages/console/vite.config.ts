import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// eslint-disable-next-line no-restricted-syntax -- The build does not use config/env.ts.
const given = process.env['TOPUP_URL'];

/**
 * Paths below /admin that are sent to the service. All other paths are pages of this application.
 */
const servicePaths = /^\/admin\/(?:api|login|queues|style\.css)(?:[/?]|$)|\.csv(?:\?|$)/;

/**
 * The service that `npm run dev -w packages/console` uses. The environment variable TOPUP_URL
 * selects a different one.
 */
const service = given ?? 'http://127.0.0.1:3000';

// eslint-disable-next-line no-restricted-syntax -- Vite reads the default export.
export default defineConfig({
  base: '/',
  plugins: [react()],
  // A placeholder. src/api/http/built-page.ts replaces it with a new nonce in each response.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    // Two entry points in one build, so that the console and the portal share their common modules.
    rolldownOptions: { input: ['index.html', 'portal.html'] },
    target: 'es2022',
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_200,
    assetsInlineLimit: 0,
  },
  server: {
    proxy: {
      '^/admin(/.*)?$': {
        target: service,
        bypass: ({ method, url = '', headers: { accept = '' } }) =>
          method === 'GET' && accept.includes('text/html') && !servicePaths.test(url)
            ? '/index.html'
            : undefined,
      },
      '/api': service,
      '/v1': service,
      // Vite serves /portal.html for every path of the portal.
      '^/portal(/.*)?$': { target: service, bypass: () => '/portal.html' },
    },
  },
});
