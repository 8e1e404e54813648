/** A TCP proxy in front of a MongoDB server that can interfere with single commands. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Document } from 'mongodb';
import {
  answeredId,
  commandName,
  hasMoreToCome,
  messagesOf,
  readBody,
  readReply,
  replyTo,
  requestId,
  withDocument,
} from './mongo-wire.js';

/** A command from a client to the server. */
export interface ProxiedCommand {
  name: string;
  /** The client's appName. */
  appName: string | null;
  /** Parses the document on demand. */
  body: () => Document;
}

/** `cut`: the connection is closed. `silence`: it stays open without further replies. */
export type Answer = Document | 'cut' | 'silence';

/** How the proxy interferes with a command. */
export interface Interference {
  /** Delays the command until this promise resolves. */
  waitFor?: Promise<unknown>;
  /** Replies with this and does not forward the command. */
  replyWith?: Answer;
  /** Forwards this command instead. */
  as?: Document;
  /** Returns the client's reply for the server's reply. */
  answer?: (reply: Document) => Answer | Promise<Answer>;
}

export interface MongoProxy {
  /** The MongoDB URI through the proxy. */
  uri: string;
  stop(): Promise<void>;
}

const handshakeCommands: ReadonlySet<string> = new Set(['hello', 'isMaster', 'ismaster']);

/**
 * Starts a proxy. A replica set appears to have this member alone.
 * @param to One host, without TLS.
 */
export async function startMongoProxy(
  to: string,
  interfere: (command: ProxiedCommand) => Interference | null,
): Promise<MongoProxy> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port || 27017), noDelay: true });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // An error ends both loops below.
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    serve(client, upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The proxy does not keep the test process alive.
  server.unref();
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  let topologyVersion: unknown;

  function serve(client: Socket, upstream: Socket): void {
    /** Replies to change, by request id. */
    const answers = new Map<number, (reply: Document) => Answer | Promise<Answer>>();
    const cut = () => {
      client.destroy();
      upstream.destroy();
    };
    let isSilent = false;
    let appName: string | null = null;

    async function passCommands(): Promise<void> {
      let isFirst = true;
      for await (const message of messagesOf(client)) {
        const name = commandName(message);
        if (isFirst) {
          const driver = readBody(message)['client'] as Document | undefined;
          appName = (driver?.['application'] as { name?: string } | undefined)?.name ?? null;
          isFirst = false;
        }
        if (handshakeCommands.has(name)) {
          answers.set(requestId(message), withProxyAddress);
        }
        const {
          waitFor,
          replyWith: instead,
          as,
          answer,
        } = interfere({ name, appName, body: () => readBody(message) }) ?? {};
        await waitFor;
        if (answer) {
          answers.set(requestId(message), answer);
        }
        if (instead === undefined) {
          await send(upstream, as ? withDocument(message, as) : message);
        } else {
          await reply(instead, (document) => replyTo(message, document));
        }
      }
      upstream.end();
    }

    async function passReplies(): Promise<void> {
      for await (const message of messagesOf(upstream)) {
        const id = answeredId(message);
        const answer = answers.get(id);
        answers.delete(id);
        if (answer && hasMoreToCome(message)) {
          answers.set(requestId(message), answer);
        }
        if (answer) {
          const given = await answer(readReply(message));
          await reply(given, (document) => withDocument(message, document));
        } else if (!isSilent) {
          await send(client, message);
        }
      }
      client.end();
    }

    async function reply(answer: Answer, written: (document: Document) => Buffer): Promise<void> {
      isSilent ||= answer === 'silence';
      if (answer === 'cut') {
        cut();
      } else if (answer !== 'silence' && !isSilent) {
        const isError = Number(answer['ok']) === 0 && topologyVersion !== undefined;
        await send(client, written(isError ? { topologyVersion, ...answer } : answer));
      }
    }

    // A delayed command still reaches the server after its client disconnects, like a packet in
    // transit.
    passCommands().catch(() => upstream.end());
    passReplies().catch(() => client.destroy());
  }

  function withProxyAddress(hello: Document): Document {
    topologyVersion = hello['topologyVersion'];
    return hello['setName'] === undefined
      ? hello
      : {
          ...hello,
          ...(hello['hosts'] !== undefined && { hosts: [host] }),
          ...(hello['primary'] !== undefined && { primary: host }),
          ...(hello['me'] !== undefined && { me: host }),
        };
  }

  const uri = new URL(to);
  uri.host = host;
  return {
    uri: uri.href,
    async stop() {
      sockets.forEach((each) => each.destroy());
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function send(socket: Socket, message: Buffer): Promise<void> {
  if (!socket.write(message) && !socket.destroyed) {
    await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
  }
}
