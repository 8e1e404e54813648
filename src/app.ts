import express, { type Express } from 'express';
import { env } from '../config/env.js';
import { createAdminRouter } from './console/routes.js';
import { createDocsRouter } from './api/docs/routes.js';
import { createHealthRouter } from './api/http/health.js';
import { accessRules } from './api/http/access-control.js';
import { errorEnvelope, notFound } from './api/http/error-envelope.js';
import { jsonBody } from './api/http/request-body.js';
import { requestContext } from './api/http/request-context.js';
import { setSecurityHeaders } from './api/http/express-setup.js';
import { mountOperations } from './api/http/mount-operations.js';
import { createOpenApiRouter } from './api/openapi/routes.js';
import { operations, resellerOperations } from './api/operations.js';
import { createPaymentNotifyRouter } from './api/payments/notify-routes.js';
import { createPortalRouter } from './api/portal/routes.js';
import { createProviderCallbackRouter } from './api/providers/callback-routes.js';
import { createSignedDownloadRouter } from './api/reports/downloads.js';
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
  app.use(createHealthRouter());
  app.use(setSecurityHeaders());
  app.use('/admin', createAdminRouter());
  app.use(createDocsRouter());
  app.use(createPortalRouter());
  app.use(createOpenApiRouter());
  app.use(createProviderCallbackRouter());
  app.use(createPaymentNotifyRouter());
  app.use(mountResellerOperations(resellerOperations));
  app.use(createSignedDownloadRouter());
  app.use(jsonBody);
  app.use(mountOperations(operations, [accessRules]));
  app.use(notFound);
  app.use(errorEnvelope);
  return app;
}
