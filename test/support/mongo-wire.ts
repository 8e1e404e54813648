/** The MongoDB wire protocol. */
import { BSON, type Document } from 'mongodb';
import type { Socket } from 'node:net';

const headerBytes = 16;
const opReply = 1;
const opQuery = 2004;
const opMsg = 2013;
/** Number of bytes from the start of an OP_REPLY message to its document. */
const replyBytes = headerBytes + 20;
const moreToComeFlag = 2;
/** Keep the BSON number types, so that a document can be written back unchanged. */
const exactBsonOptions = { promoteValues: false, promoteBuffers: false, bsonRegExp: true } as const;

/** Yields the complete messages from a socket until the other side ends the connection. */
export async function* messagesOf(socket: Socket): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    parts.push(chunk);
    bytes += chunk.length;
    if ((parts[0]?.length ?? 0) < 4) {
      parts = [Buffer.concat(parts)];
    }
    while (bytes >= headerBytes && bytes >= (parts[0] as Buffer).readInt32LE(0)) {
      const all = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
      const length = all.readInt32LE(0);
      yield all.subarray(0, length);
      const rest = all.subarray(length);
      parts = [rest];
      bytes = rest.length;
      if (bytes < 4) {
        break;
      }
    }
  }
}

export function requestId(message: Buffer): number {
  return message.readInt32LE(4);
}

/** Returns the id of the request that this message replies to. */
export function answeredId(message: Buffer): number {
  return message.readInt32LE(8);
}

/**
 * Returns whether the server sends further replies to the same request, as for a streamed `hello`.
 */
export function hasMoreToCome(message: Buffer): boolean {
  return message.readInt32LE(12) === opMsg && (message.readInt32LE(headerBytes) & moreToComeFlag) !== 0;
}

/** Returns the name of the command without parsing the document. */
export function commandName(message: Buffer): string {
  const start = documentStart(message) + 5;
  return message.toString('latin1', start, message.indexOf(0, start));
}

/**
 * Returns the document of a command with its document sequences (`documents`, `updates`,
 * `deletes`).
 */
export function readBody(message: Buffer): Document {
  if (message.readInt32LE(12) !== opMsg) {
    return BSON.deserialize(message.subarray(documentStart(message)));
  }
  let body: Document = {};
  const sequences: Document = {};
  for (let at = headerBytes + 4; at < message.length;) {
    const size = message.readInt32LE(at + 1);
    const section = message.subarray(at + 1, at + 1 + size);
    if (message.readUInt8(at) === 0) {
      body = BSON.deserialize(section);
    } else {
      const nameEnd = section.indexOf(0, 4);
      sequences[section.toString('utf8', 4, nameEnd)] = documentsIn(section.subarray(nameEnd + 1));
    }
    at += 1 + size;
  }
  return { ...body, ...sequences };
}

/** Returns the document of a reply. Its numbers are BSON objects. */
export function readReply(message: Buffer): Document {
  return BSON.deserialize(message.subarray(documentStart(message)), exactBsonOptions);
}

/** Returns the message with its document replaced. */
export function withDocument(message: Buffer, document: Document): Buffer {
  return withHeader(Buffer.concat([message.subarray(0, documentStart(message)), BSON.serialize(document)]));
}

/** Builds a message that replies to the command. */
export function replyTo(message: Buffer, document: Document): Buffer {
  const head = Buffer.alloc(headerBytes + 5);
  head.writeInt32LE(requestId(message), 8);
  head.writeInt32LE(opMsg, 12);
  return withHeader(Buffer.concat([head, BSON.serialize(document)]));
}

function withHeader(message: Buffer): Buffer {
  message.writeInt32LE(message.length, 0);
  return message;
}

function documentStart(message: Buffer): number {
  const opCode = message.readInt32LE(12);
  switch (opCode) {
    case opMsg:
      // The document follows the flags and the section kind, because drivers send the body section
      // first.
      return headerBytes + 5;
    case opQuery:
      // Only the handshake uses this opcode. Its fields are flags, name, skip, limit and document.
      return message.indexOf(0, headerBytes + 4) + 9;
    case opReply:
      return replyBytes;
    default:
      throw new Error(`A message has opcode ${opCode}: is the connection compressed?`);
  }
}

function documentsIn(bytes: Buffer): Document[] {
  const documents: Document[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at)) {
    documents.push(BSON.deserialize(bytes.subarray(at, at + bytes.readInt32LE(at))));
  }
  return documents;
}
