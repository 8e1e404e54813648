import { decode } from '../values/decode.js';
import type { Doc } from '../values/types.js';

/** A malformed message. The connection that sent it is closed. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** A command that a client has sent. */
export interface Request {
  requestId: number;
  command: Doc;
  /** The documents of an `insert` as the client sent them. Their bytes are stored unchanged. */
  documents: readonly Buffer[] | undefined;
  /** True if the client expects no reply (flag moreToCome). */
  silent: boolean;
  /** True if the client accepts several replies to this request (flag exhaustAllowed). */
  exhaustAllowed: boolean;
  /** True if the request is an OP_QUERY message. This legacy type is allowed only in handshakes. */
  legacy: boolean;
}

export const HEADER_BYTES = 16;
export const MESSAGE_BYTES_MAX = 48_000_000;
const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const MORE_TO_COME = 2;
const EXHAUST_ALLOWED = 0x10000;

/**
 * Parses a complete message.
 * @throws ProtocolError if the message is malformed, MongoError if a BSON document in the message
 * is malformed.
 */
export function parseMessage(message: Buffer): Request {
  const opCode = message.readInt32LE(12);
  switch (opCode) {
    case OP_MSG:
      return parseMsg(message);
    case OP_QUERY:
      return parseQuery(message);
    default:
      throw new ProtocolError(`opcode ${opCode} is not supported`);
  }
}

function parseMsg(message: Buffer): Request {
  if (message.length < HEADER_BYTES + 4 + 1 + 5) {
    throw new ProtocolError('the message is too short');
  }
  const flags = message.readUInt32LE(HEADER_BYTES);
  if ((flags & 0xffff & ~MORE_TO_COME) !== 0) {
    // The other required flag, checksumPresent, is not supported. No driver sets it.
    throw new ProtocolError(`a required flag is not supported (flags ${flags})`);
  }
  const { command, sequences } = parseSections(message);
  const documents = sequences.get('documents');
  for (const [field, parts] of sequences) {
    if (field in command) {
      throw new ProtocolError(`the field ${field} is sent twice`);
    }
    command[field] = field === 'documents' ? [] : parts.map((part) => decode(part));
  }
  return {
    requestId: message.readInt32LE(4),
    command,
    documents,
    silent: (flags & MORE_TO_COME) !== 0,
    exhaustAllowed: (flags & EXHAUST_ALLOWED) !== 0,
    legacy: false,
  };
}

function parseSections(message: Buffer): { command: Doc; sequences: Map<string, Buffer[]> } {
  let command: Doc | undefined;
  const sequences = new Map<string, Buffer[]>();
  const end = message.length;
  let at = HEADER_BYTES + 4;
  while (at < end) {
    const kind = message.readUInt8(at);
    const size = end - at - 1 >= 4 ? message.readInt32LE(at + 1) : -1;
    if (size < 5 || size > end - at - 1) {
      throw new ProtocolError('a section exceeds its message');
    }
    const section = message.subarray(at + 1, at + 1 + size);
    if (kind === 0) {
      if (command !== undefined) {
        throw new ProtocolError('the message has two bodies');
      }
      command = decode(section);
    } else if (kind === 1) {
      const nameEnd = section.indexOf(0, 4);
      const name = nameEnd < 0 ? '' : section.toString('utf8', 4, nameEnd);
      if (name === '' || name === '__proto__' || sequences.has(name)) {
        throw new ProtocolError('a document sequence has no name or a repeated name');
      }
      sequences.set(name, splitDocuments(section.subarray(nameEnd + 1)));
    } else {
      throw new ProtocolError(`section kind ${kind} is unknown`);
    }
    at += 1 + size;
  }
  if (command === undefined) {
    throw new ProtocolError('the message has no body');
  }
  return { command, sequences };
}

function splitDocuments(bytes: Buffer): Buffer[] {
  const documents: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    const size = bytes.length - at >= 5 ? bytes.readInt32LE(at) : -1;
    if (size < 5 || size > bytes.length - at) {
      throw new ProtocolError('a document exceeds its sequence');
    }
    documents.push(bytes.subarray(at, at + size));
    at += size;
  }
  return documents;
}

function parseQuery(message: Buffer): Request {
  const nameEnd = message.indexOf(0, HEADER_BYTES + 4);
  if (nameEnd < 0 || message.length < nameEnd + 9 + 5) {
    throw new ProtocolError('the query is too short');
  }
  const namespace = message.toString('utf8', HEADER_BYTES + 4, nameEnd);
  if (!namespace.endsWith('.$cmd')) {
    throw new ProtocolError('OP_QUERY is supported for commands only');
  }
  const command = decode(message.subarray(nameEnd + 9));
  command['$db'] ??= namespace.slice(0, -'.$cmd'.length);
  return {
    requestId: message.readInt32LE(4),
    command,
    documents: undefined,
    silent: false,
    exhaustAllowed: false,
    legacy: true,
  };
}

let lastRequestId = 0;

/**
 * Encodes a reply. The elements of `tail` are appended to the document. Also returns the request id
 * of the reply, to which the next reply of an exhaust stream refers.
 */
export function encodeReply(
  { responseTo, legacy, moreToCome }: { responseTo: number; legacy: boolean; moreToCome: boolean },
  { document, tail }: { document: Uint8Array; tail: Uint8Array },
): { message: Buffer; requestId: number } {
  lastRequestId = (lastRequestId + 1) & 0x7fffffff;
  const headBytes = HEADER_BYTES + (legacy ? 20 : 5);
  const bytes = document.length + tail.length;
  const message = Buffer.allocUnsafe(headBytes + bytes);
  message.writeInt32LE(message.length, 0);
  message.writeInt32LE(lastRequestId, 4);
  message.writeInt32LE(responseTo, 8);
  message.writeInt32LE(legacy ? OP_REPLY : OP_MSG, 12);
  if (legacy) {
    // Flag 8 is AwaitCapable. The cursor id and the starting position are zero, and the number of
    // documents is one.
    message.fill(0, 16, headBytes);
    message.writeInt32LE(8, 16);
    message.writeInt32LE(1, 32);
  } else {
    message.writeUInt32LE(moreToCome ? MORE_TO_COME : 0, 16);
    message[20] = 0;
  }
  message.set(document, headBytes);
  message.set(tail, headBytes + document.length - 1);
  message[message.length - 1] = 0;
  message.writeInt32LE(bytes, headBytes);
  return { message, requestId: lastRequestId };
}
