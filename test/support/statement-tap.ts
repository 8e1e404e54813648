/** Listens in between processes and their MongoDB: what every one of them asks, as it is on the wire. */
import type { Document } from 'mongodb';
import { startMongoProxy } from './mongo-proxy.js';

/** A command as it was sent, with the documents that came beside its body. */
export interface SentCommand {
  name: string;
  database: string;
  collection: string;
  body: Document;
  /** Of the database transaction that it belongs to; null outside of one. */
  transaction: string | null;
}

export interface StatementTap {
  /** What processes must be given as MONGODB_URI. */
  uri: string;
  /** Commands by clients that do not call themselves `test`, in the order of their arrival. */
  readonly sent: SentCommand[];
  stop(): Promise<void>;
}

export async function startStatementTap(to: string): Promise<StatementTap> {
  const sent: SentCommand[] = [];
  const proxy = await startMongoProxy(to, ({ appName, body }) => {
    const command = appName === 'test' ? null : commandOf(body());
    if (command) {
      sent.push(command);
    }
    return null;
  });
  return { ...proxy, sent };
}

function commandOf(body: Document): SentCommand | null {
  const [name = ''] = Object.keys(body);
  const collection: unknown = body[name];
  if (typeof collection !== 'string') {
    return null;
  }
  const session = (body['lsid'] as { id: { toString(encoding: 'hex'): string } } | undefined)?.id;
  return {
    name,
    database: String(body['$db']),
    collection,
    body,
    transaction:
      body['autocommit'] === false ? `${session?.toString('hex') ?? ''} ${String(body['txnNumber'])}` : null,
  };
}
