import { Router } from 'express';
import { checkDependencies } from '../../signals/readiness.js';

/**
 * `/healthz`: the process lives. `/readyz`: MongoDB and Redis take writes, and the unique indexes are there, so
 * traffic may come; otherwise `reason` says in words what is missing.
 */
export function healthRoutes(): Router {
  const router = Router();
  router.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' });
  });
  router.get('/readyz', async (_request, response) => {
    const { mongodb, redis, reasons } = await checkDependencies();
    const isReady = reasons.length === 0;
    response.status(isReady ? 200 : 503).json({
      status: isReady ? 'ok' : 'unavailable',
      mongodb,
      redis,
      ...(!isReady && { reason: reasons.join(' ') }),
    });
  });
  return router;
}
