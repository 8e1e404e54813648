import { openApiDocument } from '../openapi/document.js';

/** What the repository has, with the address of this service in place of the examples'. */
export function insertServiceUrl(text: string): string {
  return text.replace(/https:\/\/topup\.example|http:\/\/127\.0\.0\.1:3000/g, getServiceUrl());
}

/** The address at which clients reach this service, without a slash at its end. */
export function getServiceUrl(): string {
  return openApiDocument().servers[0]?.url ?? '';
}
