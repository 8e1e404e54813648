import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Router, type Response } from 'express';
import { projectRoot } from '../../../config/project-file.js';
import { html } from '../../shared/html.js';
import { NotFoundError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { refuseMethod } from '../http/mount-operations.js';
import { findClientFile } from './client-files.js';
import { docsStyle, searchScript, tryItScript } from './assets.js';
import { findDocPage, getMapPage } from './doc-pages.js';
import { insertServiceUrl } from './service-url.js';
import { sendDocPage, sendDocsPage } from './page.js';
import { renderCallPage, listCalls, renderReferenceIndex } from './reference.js';
import { getSearchIndex, searchPage } from './search.js';

/**
 * Serves `/docs`: the pages of docs/ and a page for each call. Nothing is loaded from another host.
 */
export function createDocsRouter(): Router {
  const router = Router({ caseSensitive: true });
  for (const path of ['/', '/docs']) {
    router.get(path, (_request, response) => {
      const { title, body, headings } = getMapPage();
      sendDocsPage(response, { title, body: html`${body}${ownPages}`, headings });
    });
  }
  router.get('/docs/style.css', (_request, response) => {
    sendAsset(response, 'css', docsStyle);
  });
  router.get('/docs/try-it.js', (_request, response) => {
    sendAsset(response, 'js', tryItScript);
  });
  router.get('/docs/search.js', (_request, response) => {
    sendAsset(response, 'js', searchScript);
  });
  router.get('/docs/search-index.json', (_request, response) => {
    sendAsset(response, 'json', getSearchIndex());
  });
  router.get('/docs/search', (_request, response) => {
    sendDocsPage(response, { title: 'Search', body: searchPage });
  });
  router.get('/docs/reference', (_request, response) => {
    sendDocsPage(response, { title: 'Reference', body: renderReferenceIndex() });
  });
  router.get('/docs/clients/:name', ({ params }, response) => {
    const found = findClientFile(params.name);
    if (found === null) {
      throw new NotFoundError(say('noSuchPage'));
    }
    const headers = { 'Content-Type': found.type, 'Cache-Control': 'public, max-age=300' };
    if (found.isAddressed) {
      response.set(headers).send(insertServiceUrl(readFileSync(path.join(projectRoot, found.file), 'utf8')));
    } else {
      response.sendFile(found.file, { root: projectRoot, headers });
    }
  });
  router.get('/docs/*name', ({ params: { name } }, response, next) => {
    const page = findDocPage(name.join('/'));
    if (page === null) {
      next();
    } else {
      sendDocPage(response, page);
    }
  });
  router.get('/docs/reference/:operationId', ({ params }, response) => {
    const call = listCalls().find(({ operation }) => operation.operationId === params.operationId);
    if (!call) {
      throw new NotFoundError(say('noSuchCall'));
    }
    sendDocsPage(response, { title: call.operation.summary, body: renderCallPage(call) });
  });
  router.get('/docs/*name', () => {
    throw new NotFoundError(say('noSuchPage'));
  });
  router.all(['/', '/docs', '/docs/*rest'], refuseMethod(['GET', 'HEAD']));
  return router;
}

/** Links that exist only in a running service. */
const ownPages = html`<h2>This service</h2>
  <ul>
    <li><a href="/docs/reference">Calls</a>: every API call, with a form to try it</li>
    <li><a href="/openapi.json">openapi.json</a>: the calls above as an OpenAPI document</li>
    <li><a href="/portal">Portal</a>: keys, webhooks and calls of your account</li>
    <li><a href="/admin">Console</a>: for the operator</li>
  </ul>`;

function sendAsset(response: Response, type: 'css' | 'js' | 'json', text: string): void {
  response.set('Cache-Control', 'public, max-age=3600').type(type).send(text);
}
