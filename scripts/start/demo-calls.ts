/** Sample calls of the banner and the demo. */
import { createHmac } from 'node:crypto';

/** A product of the demo catalogue, and numbers whose endings control the simulator. */
export const demoProduct = { code: 'S10', number: (ending: string) => `08123456${ending}` };

export const simulatorEndings: [string, string][] = [
  ['1230', 'succeeds at once'],
  ['1232', 'is refused and refunded'],
  ['1233', 'is pending first, then succeeds'],
  ['1234', 'is pending first, then refused'],
  ['1235', 'succeeds, but the response never arrives'],
  ['1236', 'provider is down for the first tries, then succeeds'],
  ['1237', '"not found" at the first status checks, then succeeds'],
];

/** Returns the stronger signature of the reseller surface: lower-case hex HMAC-SHA256. */
export function resellerSign(options: {
  username: string;
  apiKey: string;
  code: string;
  customer: string;
  refId: string;
}): string {
  const { username, apiKey, code, customer, refId } = options;
  return createHmac('sha256', apiKey).update(`${username}|${code}|${customer}|${refId}`).digest('hex');
}
