import { Router } from 'express';
import { pingMongo } from '../database/mongo.js';
import { pingRedis } from '../redis/connection.js';

/** `/healthz`: the process lives. `/readyz`: MongoDB and Redis answer, so traffic may come. */
export function healthRoutes(): Router {
  const router = Router();
  router.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' });
  });
  router.get('/readyz', async (_request, response) => {
    const [mongodb, redis] = await Promise.all([answers(pingMongo()), answers(pingRedis())]);
    response
      .status(mongodb && redis ? 200 : 503)
      .json({ status: mongodb && redis ? 'ok' : 'unavailable', mongodb, redis });
  });
  return router;
}

async function answers(ping: Promise<unknown>): Promise<boolean> {
  return ping.then(
    () => true,
    () => false,
  );
}
