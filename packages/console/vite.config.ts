import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// eslint-disable-next-line no-restricted-syntax -- The build knows nothing of config/env.ts.
const given = process.env['TOPUP_URL'];

/** `npm run dev -w packages/console` asks the service that runs here; another one: TOPUP_URL. */
const service = given ?? 'http://127.0.0.1:3000';

// eslint-disable-next-line no-restricted-syntax -- Vite reads the default export.
export default defineConfig({
  base: '/admin/',
  plugins: [react()],
  // src/console/app-page.ts puts the nonce of each answer in its place.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,

    target: 'es2022',
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_200,
    assetsInlineLimit: 0,
  },
  server: { proxy: { '/admin/api': service, '/admin/login': service, '/admin/style.css': service } },
});
