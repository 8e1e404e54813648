import { crc32 } from 'node:zlib';

/**
 * A block contains the entries of one group commit. After a crash it is either complete or
 * recognizably invalid. Entries that must not be separated, such as those of a transaction, are in
 * one block.
 *
 * magic u32 | payload length u32 | sequence u32 | reserved u32 | crc32 u32 | payload
 * - crc32: over the first 16 bytes and the payload
 * - payload: (entry length u32 | entry)*
 */
export const BLOCK_HEADER_BYTES = 20;
const MAGIC = Buffer.from('EMJ1', 'latin1');
const PAYLOAD_BYTES_MAX = 0x3fff_ffff;

/**
 * Encodes entries as a block.
 * @param sequence The position of the block in its file, from 0.
 */
export function encodeBlock(sequence: number, entries: readonly Uint8Array[]): Buffer {
  let payload = 0;
  for (const entry of entries) {
    payload += 4 + entry.length;
  }
  const block = Buffer.allocUnsafe(BLOCK_HEADER_BYTES + payload);
  MAGIC.copy(block, 0);
  block.writeUInt32LE(payload, 4);
  block.writeUInt32LE(sequence >>> 0, 8);
  block.writeUInt32LE(0, 12);
  let at = BLOCK_HEADER_BYTES;
  for (const entry of entries) {
    at = block.writeUInt32LE(entry.length, at);
    block.set(entry, at);
    at += entry.length;
  }
  block.writeUInt32LE(blockCrc(block, 0, payload), 16);
  return block;
}

/** Returns the payload length from the header at `at`, or -1 if there is no plausible header. */
export function payloadLength(buffer: Buffer, at: number): number {
  if (buffer.length - at < BLOCK_HEADER_BYTES || MAGIC.compare(buffer, at, at + 4) !== 0) {
    return -1;
  }
  const length = buffer.readUInt32LE(at + 4);
  return length > PAYLOAD_BYTES_MAX ? -1 : length;
}

/** True if the block at `at` is intact. The whole block must be in the buffer. */
export function isIntact(buffer: Buffer, at: number): boolean {
  const length = payloadLength(buffer, at);
  if (length < 0 || buffer.length - at < BLOCK_HEADER_BYTES + length) {
    return false;
  }
  return blockCrc(buffer, at, length) === buffer.readUInt32LE(at + 16);
}

export function sequenceOf(buffer: Buffer, at: number): number {
  return buffer.readUInt32LE(at + 8);
}

/** Yields the entries of an intact block as views of the buffer. */
export function* readEntries(block: Buffer): Generator<Buffer> {
  let at = BLOCK_HEADER_BYTES;
  while (at < block.length) {
    const length = block.readUInt32LE(at);
    yield block.subarray(at + 4, at + 4 + length);
    at += 4 + length;
  }
}

/**
 * Returns the offset of the first intact block at or after `from`, or -1. An intact block after a
 * damaged one shows that the damage is not a torn tail.
 */
export function findIntactBlock(buffer: Buffer, from: number): number {
  for (let at = buffer.indexOf(MAGIC, from); at >= 0; at = buffer.indexOf(MAGIC, at + 1)) {
    if (isIntact(buffer, at)) {
      return at;
    }
  }
  return -1;
}

function blockCrc(buffer: Buffer, at: number, length: number): number {
  const head = crc32(buffer.subarray(at, at + 16));
  return crc32(buffer.subarray(at + BLOCK_HEADER_BYTES, at + BLOCK_HEADER_BYTES + length), head);
}
