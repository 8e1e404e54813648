import { Router, type ErrorRequestHandler } from 'express';
import { setRetryAfter, getHttpStatus } from '../api/http/http-status.js';
import { toAppError } from '../api/http/error-envelope.js';
import { limitBodySize, parseForm } from '../api/http/request-body.js';
import { setResponseLanguage } from '../api/language/response-language.js';
import { getRequestContext } from '../api/http/request-context.js';
import { consoleOperations } from './api/operations.js';
import { mountConsoleApi } from './api/mount.js';
import { NotFoundError } from '../shared/errors.js';
import { html } from '../shared/html.js';
import { asWritten } from '../shared/say.js';
import { requireRight, mountConsole } from './console-route.js';
import { consoleRoutes } from './console-routes.js';
import { showLogin, submitLogin } from './login-page.js';
import { showCodeForm, showEnrolment, submitCode, submitEnrolment } from './login-steps.js';
import { sendPage, adminStyle } from './page.js';
import { createQueueActionsRouter } from './queue-actions.js';
import { queueBoard } from './queue-board.js';
import { guardChanges, requireSession } from './session.js';

const formBytesMax = 10_000;
/** Seconds until a 503 error page reloads. */
const reloadAfterS = 5;

/**
 * Builds the operator console under `/admin`. It has its own login and does not accept API keys.
 */
export function createAdminRouter(): Router {
  const router = Router({ caseSensitive: true });
  const form = parseForm({ limit: formBytesMax, parameterLimit: 20 });
  router.use((request, response, next) => {
    // Only static files of the board may be cached. All other responses are valid only for this
    // operator at this moment.
    const isStatic = request.path.startsWith('/queues/static/');
    response.set('Cache-Control', isStatic ? 'private, max-age=3600' : 'no-store');
    response.set('Referrer-Policy', 'same-origin');
    // API messages are in English. The pages translate results themselves.
    setResponseLanguage(response, 'en');
    next();
  });
  router.get('/style.css', (_request, response) => {
    response.set('Cache-Control', 'public, max-age=3600').type('css').send(adminStyle);
  });
  router.get('/login', showLogin);
  const stepForm = [limitBodySize(formBytesMax), form];
  router.post('/login', stepForm, submitLogin);
  router.get('/login/code', showCodeForm);
  router.post('/login/code', stepForm, submitCode);
  router.get('/login/enrol', showEnrolment);
  router.post('/login/enrol', stepForm, submitEnrolment);
  router.use(requireSession, form, guardChanges);
  router.use('/api', mountConsoleApi(consoleOperations));
  router.use(mountConsole(consoleRoutes));
  router.use('/queues', requireRight('queue.look'), createQueueActionsRouter(), queueBoard);
  router.use(({ path }) => {
    throw new NotFoundError(asWritten(`The console has no page /admin${path}`));
  });
  router.use(errorPage);
  return router;
}

/**
 * Renders errors as HTML for people and passes them on as JSON for scripts. Internal details are
 * never shown.
 */
const errorPage: ErrorRequestHandler = (error: unknown, request, response, next) => {
  if (response.headersSent || request.path.startsWith('/api/') || !request.accepts('html')) {
    next(error);
    return;
  }
  const known = toAppError(error);
  getRequestContext(response).error = error;
  setRetryAfter(response, known);
  const httpStatus = getHttpStatus(known);
  const isOutage = httpStatus === 503 && request.method === 'GET';
  if (isOutage) {
    response.set('Refresh', String(reloadAfterS));
  }
  sendPage(response, {
    httpStatus,
    title: 'Not possible',
    body: html`<main class="narrow">
      <div class="card">
        <h1>Not possible</h1>
        <p>${known.message}</p>
        ${isOutage ? html`<p>This page reloads by itself. To find the problem, run topup doctor.</p>` : ''}
        <p class="quiet">Request ${getRequestContext(response).requestId}</p>
        <a href="/admin">Back to the console</a>
      </div>
    </main>`,
  });
};
