/** clients/webhook-vectors.json: messages that every client takes or refuses alike. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../config/project-file.js';

export interface Vector {
  name: string;
  secret: string;
  headers: Record<string, string>;
  /** As it came. */
  body: string;
  /** Why it is refused. */
  refused: 'signature' | 'time' | 'header' | null;
  /** The name of the event, where it is genuine. */
  event?: string;
}

const file = JSON.parse(readFileSync(join(projectRoot, 'clients/webhook-vectors.json'), 'utf8')) as {
  /** Seconds: when they are judged. */
  now: number;
  vectors: Vector[];
};

export const { vectors } = file;

export const verifiedAt = ({ secret, headers, body }: Vector) => ({ secret, headers, body, now: file.now });

export const genuineIn = ({ headers, event, body }: Vector) => ({
  id: headers['webhook-id'],
  name: event,
  body: JSON.parse(body) as unknown,
});
