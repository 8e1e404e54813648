import { deserialize, serialize } from 'bson';
import { GridFSBucket, MongoClient, type ClientSession, type Db, type Document } from 'mongodb';
import type { EntityDefinition } from './cases.js';

/** An event that a client has emitted. */
export interface SeenEvent {
  type: 'command' | 'cmap' | 'sdam';
  name: string;
  event: Document;
}

const EXACT_BSON_OPTIONS = { promoteValues: false, promoteBuffers: false, bsonRegExp: true };

/** Commands that contain passwords. Their events are recorded only if the case requests it. */
const SENSITIVE = ['authenticate', 'saslStart', 'saslContinue', 'getnonce', 'createUser', 'updateUser'];

/** The clients, databases, sessions and other entities of one case, by name. */
export class Entities {
  private readonly byName = new Map<string, unknown>();
  private readonly clients: MongoClient[] = [];
  private readonly sessions: ClientSession[] = [];
  private readonly events = new Map<string, SeenEvent[]>();

  constructor(private readonly uri: string) {}

  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the case says what it is
  get<T = unknown>(name: string): T {
    if (!this.byName.has(name)) {
      throw new Error(`no entity ${name} in the case`);
    }
    return this.byName.get(name) as T;
  }

  set(name: string, value: unknown): void {
    this.byName.set(name, value);
  }

  eventsOf(client: string): SeenEvent[] {
    return this.events.get(client) ?? [];
  }

  create(definitions: readonly EntityDefinition[]): void {
    for (const definition of definitions) {
      for (const [kind, description] of Object.entries(definition)) {
        this.set(description.id, this.make(kind, description));
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.sessions.map((session) => session.endSession()));
    await Promise.all(this.clients.map((client) => client.close(true)));
  }

  private make(kind: string, description: Document): unknown {
    switch (kind) {
      case 'client':
        return this.makeClient(description);
      case 'database':
        return this.get<MongoClient>(description['client']).db(
          description['databaseName'],
          description['databaseOptions'],
        );
      case 'collection':
        return this.get<Db>(description['database']).collection(
          description['collectionName'],
          description['collectionOptions'],
        );
      case 'session':
        return this.makeSession(description);
      case 'bucket':
        return new GridFSBucket(this.get<Db>(description['database']), description['bucketOptions']);
      default:
        throw new Error(`unknown kind of entity: ${kind}`);
    }
  }

  private makeSession({ client, sessionOptions = {} }: Document): ClientSession {
    const { snapshotTime, ...options } = sessionOptions as Document;
    const session = this.get<MongoClient>(client).startSession(options);
    if (snapshotTime !== undefined) {
      // The driver has no option for the snapshot time. It has only a field of the session.
      Object.assign(session, { snapshotTime: this.get(snapshotTime) });
    }
    this.sessions.push(session);
    return session;
  }

  private makeClient(description: Document): MongoClient {
    const uri = new URL(this.uri);
    for (const [option, value] of Object.entries((description['uriOptions'] ?? {}) as Document)) {
      uri.searchParams.set(option, String(value));
    }
    const client = new MongoClient(uri.href, { monitorCommands: true });
    const seen: SeenEvent[] = [];
    const ignored: unknown[] = [
      'configureFailPoint',
      ...(description['ignoreCommandMonitoringEvents'] ?? []),
    ];
    const hidesSecrets = description['observeSensitiveCommands'] !== true;
    for (const name of (description['observeEvents'] ?? []) as string[]) {
      client.on(emittedName(name) as 'commandStarted', (event: Document) => {
        if (!ignored.includes(event['commandName']) && !(hidesSecrets && isSensitive(event))) {
          seen.push({ type: typeOf(name), name, event: copyEvent(event) });
        }
      });
    }
    this.events.set(description['id'], seen);
    this.clients.push(client);
    if (((description['observeEvents'] ?? []) as string[]).some((name) => typeOf(name) === 'sdam')) {
      // Connect now, because the case may wait for an event although the client sends no command.
      void client.connect().catch(() => undefined);
    }
    return client;
  }
}

/** Kinds of entities that the runner can create. */
export const ENTITY_KINDS = ['client', 'database', 'collection', 'session', 'bucket'];

/**
 * The supported fields of a client entity. The runner has only one server, so it ignores the field
 * that selects one of several.
 */
export const CLIENT_FIELDS = [
  'id',
  'uriOptions',
  'observeEvents',
  'ignoreCommandMonitoringEvents',
  'observeSensitiveCommands',
  'useMultipleMongoses',
];

/**
 * Returns the driver's name of an event: `connectionPoolReady` for `poolReadyEvent`. Other names
 * only lose the suffix.
 */
function emittedName(name: string): string {
  return name.replace(/Event$/, '').replace(/^pool/, 'connectionPool');
}

/**
 * True for a command with a password. The driver removes the content of such a command, even of a
 * `hello` that authenticates.
 */
function isSensitive({ commandName, command, reply }: Document): boolean {
  const isEmptied = Object.keys((command ?? reply ?? {}) as Document).length === 0;
  return SENSITIVE.includes(commandName) || (/^(hello|ismaster)$/i.test(commandName) && isEmptied);
}

/** Copies an event and its command, because the driver changes parts of both later. */
function copyEvent(event: Document): Document {
  const command: unknown = event['command'];
  return command === undefined
    ? event
    : { ...event, command: deserialize(serialize(command as Document), EXACT_BSON_OPTIONS) };
}

function typeOf(name: string): SeenEvent['type'] {
  if (name.startsWith('command')) {
    return 'command';
  }
  return /^(connection|pool)/.test(name) ? 'cmap' : 'sdam';
}
