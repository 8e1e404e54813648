import { decode } from '../values/decode.js';
import type { Doc } from '../values/types.js';

/** A message that is not a valid request. Its connection is closed. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** A received command. */
export interface Request {
  requestId: number;
  command: Doc;
  /** Documents of `insert` as received; their bytes are stored unchanged. */
  documents: readonly Buffer[] | undefined;
  /** The client wants no reply (flag moreToCome). */
  silent: boolean;
  /** The client accepts several replies to this request (flag exhaustAllowed). */
  exhaustAllowed: boolean;
  /** Sent as legacy OP_QUERY, which is allowed for handshakes only. */
  legacy: boolean;
}

export const HEADER_BYTES = 16;
export const MESSAGE_BYTES_MAX = 48_000_000;
const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const MORE_TO_COME = 2;
const EXHAUST_ALLOWED = 0x10000;

/** Parses a complete message. Throws ProtocolError, or MongoError for malformed BSON. */
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
    // The other required flag announces a checksum, which no driver sends.
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
 * Encodes a reply: the document with the elements of `tail` appended. Also returns its id, to which
 * the next reply of an exhaust stream responds.
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
    // Flag 8 is AwaitCapable. Cursor id and starting position are 0; there is one document.
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
