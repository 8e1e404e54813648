import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';
import { UnreadableSheetError } from './csv-lines.js';

const inflate = promisify(inflateRaw);

/** True if the bytes start like a zip file. */
export function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4;
}

export interface ZipPart {
  /** Compression method: 8 is deflated, 0 is stored. */
  method: number;
  packedBytes: number;
  /** Checksum of the unpacked bytes. */
  crc: number;
  /** Offset of the part's header in the file. */
  place: number;
}

const endSignature = Buffer.from('PK\u0005\u0006', 'latin1');
const entrySignature = 0x02014b50;
/** Size of the end record with a comment of maximum length. */
const endBytesMax = 22 + 65_535;

/**
 * Lists the parts of a zip from the directory at its end. Nothing is unpacked.
 * @throws UnreadableSheetError if the file is not a zip, is larger than 4 GB, or lists a part
 * twice, which is ambiguous.
 */
export function listZip(zip: Uint8Array): Map<string, ZipPart> {
  const file = toBuffer(zip);
  return refuseIfBroken(() => {
    const end = file.lastIndexOf(endSignature);
    if (end < file.length - endBytesMax || end < 0) {
      throw new UnreadableSheetError('the workbook cannot be unpacked');
    }
    const parts = new Map<string, ZipPart>();
    let place = file.readUInt32LE(end + 16);
    for (let left = file.readUInt16LE(end + 10); left > 0; left -= 1) {
      if (file.readUInt32LE(place) !== entrySignature) {
        throw new UnreadableSheetError('the workbook cannot be unpacked');
      }
      const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((at) =>
        file.readUInt16LE(place + at),
      ) as [number, number, number];
      const name = file.toString('utf8', place + 46, place + 46 + nameBytes);
      if (parts.has(name)) {
        throw new UnreadableSheetError('the workbook lists a part twice');
      }
      parts.set(name, {
        method: file.readUInt16LE(place + 10),
        packedBytes: file.readUInt32LE(place + 20),
        crc: file.readUInt32LE(place + 16),
        place: file.readUInt32LE(place + 42),
      });
      place += 46 + nameBytes + extraBytes + commentBytes;
    }
    return parts;
  });
}

/**
 * Unpacks one part in a separate thread. Stops at `bytesMax` bytes, whatever size the zip claims.
 * @throws UnreadableSheetError if the part cannot be unpacked, or if its checksum is wrong, because
 * an amount may have changed.
 */
export async function unzipPart(zip: Uint8Array, part: ZipPart, bytesMax: number): Promise<Buffer> {
  const unpacked = await inflatePart(zip, part, bytesMax);
  if (crc32(unpacked) !== part.crc) {
    throw new UnreadableSheetError('the workbook is damaged. Save it again with a spreadsheet program');
  }
  return unpacked;
}

async function inflatePart(zip: Uint8Array, part: ZipPart, bytesMax: number): Promise<Buffer> {
  const file = toBuffer(zip);
  const packed = refuseIfBroken(() => {
    const start = part.place + 30 + file.readUInt16LE(part.place + 26) + file.readUInt16LE(part.place + 28);
    return file.subarray(start, start + part.packedBytes);
  });
  if (part.method === 0 && packed.length <= bytesMax) {
    return packed;
  }
  if (part.method !== 8) {
    throw new UnreadableSheetError('the workbook cannot be unpacked');
  }
  try {
    return await inflate(packed, { maxOutputLength: bytesMax });
  } catch (error) {
    const isTooLarge = error instanceof RangeError;
    throw new UnreadableSheetError(
      isTooLarge ? 'the workbook has a sheet that is too large' : 'the workbook cannot be unpacked',
      { cause: error },
    );
  }
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Turns reads beyond the end of the file into an error about the file. */
function refuseIfBroken<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof UnreadableSheetError
      ? error
      : new UnreadableSheetError('the workbook cannot be unpacked', { cause: error });
  }
}
