import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// eslint-disable-next-line no-restricted-syntax -- The build knows nothing of config/env.ts.
const given = process.env['TOPUP_URL'];

/** What the service itself answers below /admin; every other page is one of these here. */
const ofService = /^\/admin\/(?:api|login|queues|style\.css)(?:[/?]|$)|\.csv(?:\?|$)/;

/** `npm run dev -w packages/console` asks the service that runs here; another one: TOPUP_URL. */
const service = given ?? 'http://127.0.0.1:3000';

// eslint-disable-next-line no-restricted-syntax -- Vite reads the default export.
export default defineConfig({
  base: '/',
  plugins: [react()],
  // src/api/http/built-page.ts puts the nonce of each answer in its place.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    // The operator's console and the accounts' portal share what they have in common.
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
          method === 'GET' && accept.includes('text/html') && !ofService.test(url)
            ? '/index.html'
            : undefined,
      },
      '/api': service,
      '/v1': service,
      // The path itself is /portal.html.
      '^/portal(/.*)?$': { target: service, bypass: () => '/portal.html' },
    },
  },
});
