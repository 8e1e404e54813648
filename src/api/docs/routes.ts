import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Router, type Response } from 'express';
import { projectRoot } from '../../../config/project-file.js';
import { html } from '../../shared/html.js';
import { NotFoundError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { queryOf } from '../middleware/query.js';
import { refuseMethod } from '../mount.js';
import { clientFileOf } from './client-files.js';
import { docsStyle, tryItScript } from './assets.js';
import { guideOf, guideTitles, isGuideName } from './guides.js';
import { withOwnAddress } from './own-address.js';
import { sendDocsPage } from './page.js';
import { callPage, calls, referenceIndex } from './reference.js';
import { searchPage } from './search.js';

/** `/docs`: the guides and the reference to read, search and try; `/` says where to go. Nothing of it comes from outside. */
export function docsRoutes(): Router {
  const router = Router({ caseSensitive: true });
  for (const path of ['/', '/docs']) {
    router.get(path, (_request, response) => {
      sendDocsPage(response, { title: 'Start', body: startPage });
    });
  }
  router.get('/docs/style.css', (_request, response) => {
    sendAsset(response, 'css', docsStyle);
  });
  router.get('/docs/try-it.js', (_request, response) => {
    sendAsset(response, 'js', tryItScript);
  });
  router.get('/docs/search', (request, response) => {
    const query = (queryOf(request)['q'] ?? '').slice(0, queryCharactersMax);
    sendDocsPage(response, { title: 'Search', body: searchPage(query), query });
  });
  router.get('/docs/reference', (_request, response) => {
    sendDocsPage(response, { title: 'Reference', body: referenceIndex() });
  });
  router.get('/docs/reference/:operationId', ({ params }, response) => {
    const call = calls().find(({ operation }) => operation.operationId === params.operationId);
    if (!call) {
      throw new NotFoundError(say('noSuchCall'));
    }
    sendDocsPage(response, { title: call.operation.summary, body: callPage(call) });
  });
  router.get('/docs/clients/:name', ({ params }, response) => {
    const found = clientFileOf(params.name);
    if (found === null) {
      throw new NotFoundError(say('noSuchPage'));
    }
    const headers = { 'Content-Type': found.type, 'Cache-Control': 'public, max-age=300' };
    if (found.isAddressed) {
      response.set(headers).send(withOwnAddress(readFileSync(path.join(projectRoot, found.file), 'utf8')));
    } else {
      response.sendFile(found.file, { root: projectRoot, headers });
    }
  });
  router.get('/docs/:guide', ({ params }, response) => {
    if (!isGuideName(params.guide)) {
      throw new NotFoundError(say('noSuchPage'));
    }
    const { title, html: body } = guideOf(params.guide);
    sendDocsPage(response, { title, body: { html: body } });
  });
  router.all(['/', '/docs', '/docs/*rest'], refuseMethod(['GET', 'HEAD']));
  return router;
}

const queryCharactersMax = 100;

const startPage = html`<h1>Top-up and bill payment</h1>
  <p>Pulsa, data, PLN tokens, game vouchers and bills, by one API.</p>
  <ul>
    ${Object.entries(guideTitles).map(([name, title]) => html`<li><a href="/docs/${name}">${title}</a></li>`)}
    <li><a href="/docs/reference">Reference: every call, to read and try</a></li>
    <li><a href="/openapi.json">openapi.json</a>, for machines</li>
    <li><a href="/portal">Your account</a>: keys, webhooks, your calls and their answers, by your API key</li>
    <li><a href="/admin">Console</a>, for the operator</li>
  </ul>`;

function sendAsset(response: Response, type: 'css' | 'js', text: string): void {
  response.set('Cache-Control', 'public, max-age=3600').type(type).send(text);
}
