import { Router } from 'express';
import { env } from '../../../config/env.js';
import { builtAssets, sendBuiltPage } from '../http/built-page.js';
import { refuseMethod } from '../http/mount-operations.js';

/**
 * Serves `/portal`, the account portal, and `/assets`, the scripts and styles of portal and
 * console.
 * The portal only makes calls of the public API, with the key that the user enters (decision 034).
 */
export function createPortalRouter(): Router {
  const router = Router({ caseSensitive: true });
  router.use('/assets', builtAssets);
  const paths = ['/portal', '/portal/*rest'];
  router.get(paths, async (_request, response) => {
    response.set('Cache-Control', 'no-store').set('Referrer-Policy', 'same-origin');
    await sendBuiltPage(response, 'portal.html', {
      __TIME_ZONE__: env.BUSINESS_TIMEZONE,
      __APP_MODE__: env.APP_MODE,
    });
  });
  router.all(paths, refuseMethod(['GET', 'HEAD']));
  return router;
}
