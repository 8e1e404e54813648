/** clients/webhook-vectors.json: messages that every client must accept or refuse. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../config/project-file.js';

export interface Vector {
  name: string;
  secret: string;
  headers: Record<string, string>;
  /** The raw body. */
  body: string;
  /** The reason why the message is refused. Null if it is genuine. */
  refused: 'signature' | 'time' | 'header' | null;
  /** The event name, if the message is genuine. */
  event?: string;
}

const file = JSON.parse(readFileSync(join(projectRoot, 'clients/webhook-vectors.json'), 'utf8')) as {
  /** The time of verification, in Unix seconds. */
  now: number;
  vectors: Vector[];
};

export const { vectors } = file;

export const toVerifyInput = ({ secret, headers, body }: Vector) => ({
  secret,
  headers,
  body,
  now: file.now,
});

export const toExpectedEvent = ({ headers, event, body }: Vector) => ({
  id: headers['webhook-id'],
  name: event,
  body: JSON.parse(body) as unknown,
});
