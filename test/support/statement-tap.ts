/** Records the commands that processes send to MongoDB. */
import type { Document } from 'mongodb';
import { startMongoProxy } from './mongo-proxy.js';

/** A command, including its document sequences. */
export interface SentCommand {
  name: string;
  database: string;
  collection: string;
  body: Document;
  /** The id of the command's database transaction. Null if the command is in none. */
  transaction: string | null;
}

export interface StatementTap {
  /** The MONGODB_URI that the recorded processes must use. */
  uri: string;
  /**
   * The recorded commands in order of arrival. Clients with the appName `test` are not recorded.
   */
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
