import { openApiDocument } from '../openapi/document.js';

/** Replaces the example addresses in a text by the address of this service. */
export function insertServiceUrl(text: string): string {
  return text.replace(/https:\/\/topup\.example|http:\/\/127\.0\.0\.1:3000/g, getServiceUrl());
}

/** Returns the public address of this service without a trailing slash. */
export function getServiceUrl(): string {
  return openApiDocument().servers[0]?.url ?? '';
}
