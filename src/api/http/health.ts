import { Router } from 'express';
import { checkDependencies } from '../../signals/readiness.js';

/**
 * Serves `/healthz` and `/readyz`. `/healthz` reports that the process is alive. `/readyz` reports
 * that the process can serve: MongoDB and Redis accept writes, and the unique indexes exist.
 * Otherwise its `reason` names the problem.
 */
export function createHealthRouter(): Router {
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
