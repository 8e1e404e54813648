import { openApiDocument } from '../openapi/document.js';

/** What the repository has, with the address of this service in place of the examples'. */
export function withOwnAddress(text: string): string {
  const [server] = openApiDocument().servers;
  return text.replace(/https:\/\/topup\.example|http:\/\/127\.0\.0\.1:3000/g, server?.url ?? '');
}
