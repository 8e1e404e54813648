/** A TCP proxy in front of a MongoDB server. It can interfere with individual commands. */
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

/** A command that a client sent to the server. */
export interface ProxiedCommand {
  name: string;
  /** The appName of the client. */
  appName: string | null;
  /** Parses and returns the command's document. */
  body: () => Document;
}

/**
 * The reply to a client. `cut` closes the connection. `silence` keeps it open and sends no further
 * replies.
 */
export type ProxyReply = Document | 'cut' | 'silence';

/** The changes that the proxy makes to a command. */
export interface Interference {
  /** Delays the command until this promise settles. */
  waitFor?: Promise<unknown>;
  /** Sends this reply and does not forward the command. */
  replyWith?: ProxyReply;
  /** Forwards this command instead of the original one. */
  as?: Document;
  /** Returns the reply to send to the client, given the reply from the server. */
  answer?: (reply: Document) => ProxyReply | Promise<ProxyReply>;
}

export interface MongoProxy {
  /** The MongoDB URI with the proxy's address. */
  uri: string;
  stop(): Promise<void>;
}

const handshakeCommands: ReadonlySet<string> = new Set(['hello', 'isMaster', 'ismaster']);

/**
 * Starts a proxy. Clients see a replica set with this member only.
 * @param to The URI of a server with one host and without TLS.
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
      // The loops below end on an error, so this handler only prevents an exception.
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    serve(client, upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The proxy must not keep the test process alive.
  server.unref();
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  let topologyVersion: unknown;

  function serve(client: Socket, upstream: Socket): void {
    /** The functions that change a reply, by the id of the request. */
    const answers = new Map<number, (reply: Document) => ProxyReply | Promise<ProxyReply>>();
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

    async function reply(answer: ProxyReply, written: (document: Document) => Buffer): Promise<void> {
      isSilent ||= answer === 'silence';
      if (answer === 'cut') {
        cut();
      } else if (answer !== 'silence' && !isSilent) {
        const isError = Number(answer['ok']) === 0 && topologyVersion !== undefined;
        await send(client, written(isError ? { topologyVersion, ...answer } : answer));
      }
    }

    // A delayed command still reaches the server after its client has disconnected, like a packet
    // in transit.
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
