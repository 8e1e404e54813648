import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** The headers of helmet on every answer: they are always the same, so helmet is asked for them once. */
export function safeHeaders(): RequestHandler {
  const asked = new ServerResponse(new IncomingMessage(new Socket()));
  helmet()(asked.req, asked, (problem?: unknown) => {
    if (problem !== undefined) {
      throw problem instanceof Error ? problem : new Error('helmet gave no headers');
    }
  });
  const headers = Object.entries(asked.getHeaders());
  return (_request, response, next) => {
    for (const [name, value] of headers) {
      response.setHeader(name, value ?? '');
    }
    next();
  };
}
