import { Router } from 'express';
import { refuseMethod } from '../http/mount-operations.js';
import { openApiDocument } from './document.js';

/** Serves `/openapi.json`. */
export function createOpenApiRouter(): Router {
  const router = Router({ caseSensitive: true });
  // Serialized once: the document is long, and the call needs no key.
  let text: string | undefined;
  router.get('/openapi.json', (_request, response) => {
    response
      .set('Cache-Control', 'public, max-age=300')
      .type('json')
      .send((text ??= JSON.stringify(openApiDocument())));
  });
  router.all('/openapi.json', refuseMethod(['GET', 'HEAD']));
  return router;
}
