/**
 * The web tier alone: one call that validates a body and returns it. `http` and `express` are the
 * yardsticks. `frame` adds our common middleware. `ours` is a full API call with key and limits.
 */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import { purchaseBody, type PurchaseBody } from '../../../src/api/buyer/create-purchases.js';
import { buildExpressClasses, setSecurityHeaders } from '../../../src/api/http/express-setup.js';
import { accessRules } from '../../../src/api/http/access-control.js';
import { errorEnvelope } from '../../../src/api/http/error-envelope.js';
import { jsonBody } from '../../../src/api/http/request-body.js';
import { requestContext } from '../../../src/api/http/request-context.js';
import { mountOperations } from '../../../src/api/http/mount-operations.js';
import { defineOperation } from '../../../src/api/contract/operation.js';
import { sendJson } from '../../../src/api/http/send-response.js';
import { validate } from '../../../src/api/contract/validate.js';
import { connectMongo } from '../../../src/database/mongo.js';
import { connectRedis } from '../../../src/redis/connection.js';
import { keepFleetClock } from '../../../src/redis/fleet-clock.js';
import { subscribeToChanges } from '../../../src/redis/subscribe-changes.js';

export type EchoServer = 'http' | 'express' | 'frame' | 'ours';

const path = '/echo';

export async function serveEcho([name = '']: string[]): Promise<void> {
  const server = await servers[name as EchoServer]();
  server.listen(0, '127.0.0.1', () =>
    process.send?.({ ready: true, port: (server.address() as AddressInfo).port }),
  );
  process.on('SIGTERM', () => process.exit(0));
}

const servers = {
  http: () => createServer(echoBare),
  express: () =>
    createServer(
      express()
        .use(express.json())
        .post(path, (request, response) => {
          const { error, value } = validateBody(request.body);
          response.status(error ? 400 : 200).json({ status: 'success', code: '00', data: value });
        }),
    ),
  frame: () =>
    createAppServer(
      createAppWithMiddleware().post(path, async (request, response) => {
        const data = validate(purchaseBody, request.body);
        await sendJson(response.status(200), { status: 'success', code: '00', data });
      }),
    ),
  async ours() {
    keepFleetClock();
    await Promise.all([connectMongo(), connectRedis(), subscribeToChanges()]);
    return createAppServer(createAppWithMiddleware().use(mountOperations([echo], [accessRules])));
  },
};

const validateBody = (input: unknown) =>
  purchaseBody.validate(input) as { error?: Error; value: PurchaseBody };

const echoBare: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { error, value } = validateBody(JSON.parse(Buffer.concat(chunks).toString()));
    const text = JSON.stringify({ status: 'success', code: '00', data: value });
    response
      .writeHead(error ? 400 : 200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      })
      .end(text);
  });
};

const echo = defineOperation<PurchaseBody>({
  id: 'echo',
  method: 'post',
  path,
  role: 'buyer',
  needs: 'trade',
  tag: 'Buyer',
  summary: 'Echo',
  body: purchaseBody,
  data: purchaseBody,
  handle: ({ body }) => Promise.resolve({ data: body }),
});

/** Builds an app with the middleware order of createApp. */
function createAppWithMiddleware(): Express {
  return express()
    .disable('x-powered-by')
    .disable('etag')
    .set('query parser', false)
    .use(requestContext)
    .use(setSecurityHeaders())
    .use(jsonBody);
}

function createAppServer(app: Express) {
  app.use(errorEnvelope);
  return createServer(buildExpressClasses(app), app);
}
