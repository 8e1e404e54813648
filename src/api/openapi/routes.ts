import { Router } from 'express';
import helmet from 'helmet';
import swaggerUi from 'swagger-ui-express';
import { refuseMethod } from '../mount.js';
import { openApiDocument } from './document.js';

/** `/openapi.json`, and `/docs` to read and try it: all its files come from this process, none from outside. */
export function openApiRoutes(): Router {
  const router = Router({ caseSensitive: true });
  router.get('/openapi.json', (_request, response) => {
    response.set('Cache-Control', 'public, max-age=300').type('json').send(JSON.stringify(openApiDocument()));
  });
  router.all('/openapi.json', refuseMethod(['GET', 'HEAD']));
  router.use(
    '/docs',
    contentPolicy,
    swaggerUi.serve,
    swaggerUi.setup(undefined, {
      customSiteTitle: 'Top-up and bill payment: API',
      swaggerUrl: '/openapi.json',
      // The default sends the document's address to a validator on the internet.
      swaggerOptions: { validatorUrl: null, persistAuthorization: true, displayRequestDuration: true },
    }),
  );
  return router;
}

/** The page styles itself inline. Its scripts are files, and it talks to this service alone. */
const contentPolicy = helmet.contentSecurityPolicy({
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'", "'unsafe-inline'"],
    imgSrc: ["'self'", 'data:'],
    fontSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
});
