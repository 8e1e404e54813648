/** The OpenAPI 3.1 document, built from the operations that the app serves. */
import { env } from '../../../config/env.js';
import { lookUp } from '../../shared/collections.js';
import { operations, resellerOperations } from '../operations.js';
import { describeOperation } from './describe-operation.js';
import { describeProviderCallback } from './describe-provider-callback.js';
import { describeResellerOperation } from './describe-reseller-operation.js';
import { describeWebhook, describeWebhooks, webhookBodies } from './webhooks.js';
import { extractComponents } from './components.js';
import { buildFailureResponses } from './failures.js';
import type { OpenApiDocument, PathItem, PublishedDocument } from './types.js';

let inlineDocument: OpenApiDocument | null = null;
let publishedDocument: PublishedDocument<OpenApiDocument> | null = null;

/** Returns the published document. It is built at the first call, because that takes a while. */
export function openApiDocument(): PublishedDocument<OpenApiDocument> {
  publishedDocument ??= extractComponents(describedInterface());
  return publishedDocument;
}

/** Returns the document with every schema inline, for use in this service. */
export function describedInterface(): OpenApiDocument {
  inlineDocument ??= buildDocument();
  return inlineDocument;
}

function buildDocument(): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Top-up and bill payment',
      version: '1',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'Calls for wallets, buyers, sellers and reseller software. All amounts are whole rupiah. If a response is ' +
        'lost, send the call again with the same `ref_id`: nothing is bought twice. A failure envelope means ' +
        'that this call created no transaction.',
    },
    servers: [{ url: getBaseUrl() }],
    tags: [
      { name: 'Wallet', description: 'Buyer keys, prefix /v1.' },
      { name: 'Buyer', description: 'Buyer keys.' },
      { name: 'Seller', description: 'Seller keys.' },
      { name: 'Sandbox', description: 'Test keys of buyers in a sandbox. Otherwise 403, `sandbox_only`.' },
      { name: 'Reseller', description: 'For reseller engines: signed GET calls, always HTTP 200.' },
      { name: 'Provider', description: 'For systems that fulfil our orders.' },
      { name: 'Webhooks', description: describeWebhooks(env.OUTGOING_ADDRESSES) },
    ],
    paths: describePaths(),
    webhooks: Object.fromEntries(
      Object.entries(webhookBodies).map(([event, each]) => [event, describeWebhook(event, each)]),
    ),
    components: {
      responses: buildFailureResponses(),
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'Your API key (bk_… or sk_…), or an access token of /v1/auth/login.',
        },
        downloadToken: {
          type: 'apiKey',
          in: 'query',
          name: 'token',
          description: 'Part of a `download_url`. Replaces the API key for this one file until it expires.',
        },
        resellerSign: {
          type: 'apiKey',
          in: 'query',
          name: 'sign',
          description: 'Sent with `username`. Each call describes what its sign covers.',
        },
        providerSignature: {
          type: 'apiKey',
          in: 'header',
          name: 'x-signature',
          description: 'Made with the secret that you and we share.',
        },
      },
    },
  };
}

/** Absolute, because generated clients use it unchanged. */
function getBaseUrl(): string {
  return (env.BASE_URL ?? `http://127.0.0.1:${env.PORT}`).replace(/\/+$/, '');
}

function describePaths(): Record<string, PathItem> {
  const paths: Record<string, PathItem> = {};
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...lookUp(paths, path), [operation.method]: describeOperation(operation) };
  }
  for (const operation of resellerOperations) {
    paths[operation.path] = { get: describeResellerOperation(operation) };
  }
  paths['/api/reseller/callback'] = { post: describeProviderCallback() };
  return paths;
}
