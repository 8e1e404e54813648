import express, { Router, type ErrorRequestHandler } from 'express';
import { httpStatusOf } from '../api/http-status.js';
import { toAppError } from '../api/middleware/errors.js';
import { contextOf } from '../api/middleware/request-context.js';
import { html } from './html.js';
import { logout, showLogin, submitLogin } from './login-page.js';
import { sendPage } from './page.js';
import { queueBoard } from './queue-board.js';
import { guardChanges, requireSession } from './session.js';
import { showStart } from './start-page.js';
import { adminStyle } from './style.js';

const formBytesMax = 10_000;

/** The operator's console under `/admin`. It has its own login and knows nothing of API keys. */
export function adminRoutes(): Router {
  const router = Router({ caseSensitive: true });
  const form = express.urlencoded({ extended: false, limit: formBytesMax, parameterLimit: 20 });
  router.use((request, response, next) => {
    // The board's scripts are the same for everybody; all else is for this operator, now.
    const isStatic = request.path.startsWith('/queues/static/');
    response.set('Cache-Control', isStatic ? 'private, max-age=3600' : 'no-store');
    response.set('Referrer-Policy', 'same-origin');
    next();
  });
  router.get('/style.css', (_request, response) => {
    response.set('Cache-Control', 'public, max-age=3600').type('css').send(adminStyle);
  });
  router.get('/login', showLogin);
  router.post('/login', form, submitLogin);
  router.use(requireSession);
  router.post('/logout', form, logout);
  router.use(guardChanges);
  router.get('/', showStart);
  router.use('/queues', queueBoard);
  router.use(errorPage);
  return router;
}

/** Pages for people, JSON for the board's script; never the insides of an error. */
const errorPage: ErrorRequestHandler = (error: unknown, request, response, next) => {
  if (response.headersSent || !request.accepts('html')) {
    next(error);
    return;
  }
  const known = toAppError(error);
  contextOf(response).error = error;
  sendPage(response, {
    httpStatus: httpStatusOf(known),
    title: 'Not possible',
    body: html`<main class="narrow">
      <div class="card">
        <h1>Not possible</h1>
        <p>${known.message}</p>
        <p class="quiet">Request ${contextOf(response).requestId}</p>
        <a href="/admin">Back to the console</a>
      </div>
    </main>`,
  });
};
