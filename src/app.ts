import express, { type Express } from 'express';
import { env } from '../config/env.js';
import { adminRoutes } from './console/routes.js';
import { docsRoutes } from './api/docs/routes.js';
import { healthRoutes } from './api/http/health.js';
import { accessRules } from './api/http/access-control.js';
import { errorEnvelope, notFound } from './api/http/error-envelope.js';
import { jsonBody } from './api/http/request-body.js';
import { requestContext } from './api/http/request-context.js';
import { setSecurityHeaders } from './api/http/express-setup.js';
import { mountOperations } from './api/http/mount-operations.js';
import { openApiRoutes } from './api/openapi/routes.js';
import { operations, resellerOperations } from './api/operations.js';
import { paymentNotifyRoutes } from './api/payments/notify-routes.js';
import { portalRoutes } from './api/portal/routes.js';
import { providerCallbackRoutes } from './api/providers/callback-routes.js';
import { signedDownloadRoutes } from './api/reports/downloads.js';
import { mountResellerOperations } from './api/reseller/mount-operations.js';

/**
 * Creates the web application. It is stateless, so any number of processes can serve the same
 * accounts.
 */
export function createApp(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set(
    'trust proxy',
    /^\d+$/.test(env.TRUST_PROXY) ? Number(env.TRUST_PROXY) : env.TRUST_PROXY.split(','),
  );
  // The router's query parser is off, because parseQuery reads query strings and refuses repeated
  // parameters.
  app.set('query parser', false);
  app.use(requestContext);
  app.use(healthRoutes());
  app.use(setSecurityHeaders());
  app.use('/admin', adminRoutes());
  app.use(docsRoutes());
  app.use(portalRoutes());
  app.use(openApiRoutes());
  app.use(providerCallbackRoutes());
  app.use(paymentNotifyRoutes());
  app.use(mountResellerOperations(resellerOperations));
  app.use(signedDownloadRoutes());
  app.use(jsonBody);
  app.use(mountOperations(operations, [accessRules]));
  app.use(notFound);
  app.use(errorEnvelope);
  return app;
}
