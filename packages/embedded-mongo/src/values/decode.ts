import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  Decimal128,
  Double,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from 'bson';
import { MongoError } from '../errors.js';
import { isIntegerKey, setOrder } from './fields.js';
import { BSON, type Doc } from './types.js';

/**
 * The maximum nesting depth of documents and arrays. Deeper documents are refused, because they
 * could exhaust the stack.
 */
const NESTING_MAX = 200;

/**
 * Decodes the BSON document at `offset`. Every BSON type is preserved (see `Doc`).
 * @throws MongoError 22 for malformed BSON, 15 if the nesting exceeds `NESTING_MAX`, 238 for a
 * DBPointer or for a date outside the range of JS.
 */
export function decode(bytes: Uint8Array, offset = 0): Doc {
  const reader = new Reader(bytes, offset);
  try {
    return reader.document(offset, 1);
  } catch (error) {
    if (error instanceof RangeError) {
      throw createDecodeError('a value runs past the end of the document');
    }
    throw error;
  }
}

/** Reads a buffer. `pos` is the position after the last value that was read. */
class Reader {
  readonly #buffer: Buffer;
  readonly #view: DataView;
  #pos: number;

  constructor(bytes: Uint8Array, offset: number) {
    this.#buffer = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#pos = offset;
  }

  document(start: number, depth: number): Doc {
    const end = this.#open(start, depth);
    const doc: Doc = {};
    let count = 0;
    let last = '';
    let order: string[] | undefined;
    for (;;) {
      const type = this.#view.getUint8(this.#pos++);
      if (type === 0) {
        break;
      }
      const startsWithDigit = isDigit(this.#view.getUint8(this.#pos));
      const key = this.#key();
      const value = this.#value(type, depth);
      if (order !== undefined) {
        order.push(key);
      } else if (startsWithDigit && count > 0 && isOutOfOrder(last, key)) {
        order = [...Object.keys(doc), key];
      }
      if (key === '__proto__') {
        Object.defineProperty(doc, key, { value, enumerable: true, configurable: true, writable: true });
      } else {
        doc[key] = value;
      }
      last = key;
      count++;
    }
    this.#close(end);
    if (order !== undefined) {
      setOrder(doc, [...new Set(order)]);
    }
    return doc;
  }

  #array(start: number, depth: number): unknown[] {
    const end = this.#open(start, depth);
    const array: unknown[] = [];
    for (;;) {
      const type = this.#view.getUint8(this.#pos++);
      if (type === 0) {
        break;
      }
      while (this.#view.getUint8(this.#pos++) !== 0) {
        // The names of array elements are not needed.
      }
      array.push(this.#value(type, depth));
    }
    this.#close(end);
    return array;
  }

  #open(start: number, depth: number): number {
    if (depth > NESTING_MAX) {
      throw new MongoError(15, `BSONObj exceeds maximum nested object depth: ${NESTING_MAX}`);
    }
    const length = this.#view.getInt32(start, true);
    const end = start + length;
    if (length < 5 || end > this.#view.byteLength) {
      throw createDecodeError('a document has an impossible length');
    }
    this.#pos = start + 4;
    return end;
  }

  #close(end: number): void {
    if (this.#pos !== end) {
      throw createDecodeError('the length of a document does not fit its fields');
    }
  }

  /**
   * Reads a field name. Names are repeated in many documents, so they are cached by their hash. A
   * cached name needs no call into C++.
   */
  #key(): string {
    const start = this.#pos;
    let hash = 0;
    let byte: number;
    while ((byte = this.#view.getUint8(this.#pos++)) !== 0) {
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    const end = this.#pos - 1;
    const slot = hash & (KEY_CACHE_SIZE - 1);
    const cached = keyCache[slot];
    if (cached?.length === end - start && this.#isKeyAt(cached, start)) {
      return cached;
    }
    const key = this.#buffer.toString('utf8', start, end);
    if (key.length === end - start) {
      keyCache[slot] = key;
    }
    return key;
  }

  #isKeyAt(key: string, start: number): boolean {
    for (let i = 0; i < key.length; i++) {
      if (key.charCodeAt(i) !== this.#view.getUint8(start + i)) {
        return false;
      }
    }
    return true;
  }

  #value(type: number, depth: number): unknown {
    switch (type) {
      case BSON.string:
        return this.#string();
      case BSON.int:
        return this.#int32();
      case BSON.objectId:
        return new ObjectId(this.#bytes(12));
      case BSON.object:
        return this.document(this.#pos, depth + 1);
      case BSON.array:
        return this.#array(this.#pos, depth + 1);
      case BSON.bool:
        return this.#bool();
      case BSON.date:
        return this.#date();
      case BSON.double:
        return this.#double();
      case BSON.long:
        return new Long(this.#int32(), this.#int32());
      case BSON.decimal:
        return new Decimal128(Uint8Array.prototype.slice.call(this.#bytes(16)));
      case BSON.null:
        return null;
      case BSON.timestamp:
        return new Timestamp(new Long(this.#int32(), this.#int32()));
      case BSON.binData:
        return this.#binary();
      default:
        return this.#rareValue(type, depth);
    }
  }

  #rareValue(type: number, depth: number): unknown {
    switch (type) {
      case BSON.undefined:
        return undefined;
      case BSON.regex: {
        const regex = new BSONRegExp(this.#cstring(), '');
        // The constructor would sort the options and refuse unknown ones. They are stored
        // unchanged.
        regex.options = this.#cstring();
        return regex;
      }
      case BSON.dbPointer:
        throw new MongoError(
          238,
          'values of the deprecated type dbPointer are not supported by embedded-mongo',
        );
      case BSON.javascript:
        return new Code(this.#string());
      case BSON.symbol:
        return new BSONSymbol(this.#string());
      case BSON.javascriptWithScope: {
        this.#int32();
        return new Code(this.#string(), this.document(this.#pos, depth + 1));
      }
      case 0xff:
        return new MinKey();
      case BSON.maxKey:
        return new MaxKey();
      default:
        throw createDecodeError(`unknown element type ${type}`);
    }
  }

  #int32(): number {
    const value = this.#view.getInt32(this.#pos, true);
    this.#pos += 4;
    return value;
  }

  #double(): unknown {
    const value = this.#view.getFloat64(this.#pos, true);
    this.#pos += 8;
    return (value | 0) === value ? new Double(value) : value;
  }

  #bool(): boolean {
    const byte = this.#view.getUint8(this.#pos++);
    if (byte > 1) {
      throw createDecodeError('a boolean is neither 0 nor 1');
    }
    return byte === 1;
  }

  #date(): Date {
    const low = this.#int32();
    const high = this.#int32();
    const date = new Date(high * 4294967296 + (low >>> 0));
    if (Number.isNaN(date.getTime())) {
      throw new MongoError(238, 'dates that JavaScript cannot hold are not supported by embedded-mongo');
    }
    return date;
  }

  #string(): string {
    const length = this.#int32();
    const start = this.#pos;
    this.#pos = start + length;
    if (length < 1 || this.#view.getUint8(this.#pos - 1) !== 0) {
      throw createDecodeError('a string has an impossible length or no end');
    }
    return this.#buffer.toString('utf8', start, this.#pos - 1);
  }

  #cstring(): string {
    const start = this.#pos;
    while (this.#view.getUint8(this.#pos++) !== 0) {
      // The loop ends at the zero byte. At the end of the buffer, a RangeError is thrown.
    }
    return this.#buffer.toString('utf8', start, this.#pos - 1);
  }

  #binary(): Binary {
    const length = this.#int32();
    const subType = this.#view.getUint8(this.#pos++);
    const bytes = this.#bytes(length);
    const isOld = subType === OLD_BINARY;
    if (isOld && (length < 4 || bytes.readInt32LE(0) !== length - 4)) {
      throw createDecodeError('a binary value of the old subtype has an impossible inner length');
    }
    return new Binary(Buffer.from(isOld ? bytes.subarray(4) : bytes), subType);
  }

  #bytes(length: number): Buffer {
    const start = this.#pos;
    if (length < 0 || start + length > this.#view.byteLength) {
      throw createDecodeError('a value runs past the end of the document');
    }
    this.#pos = start + length;
    return this.#buffer.subarray(start, this.#pos);
  }
}

/** The binary subtype 2, which is deprecated. Its data begins with a second length. */
const OLD_BINARY = 2;

const KEY_CACHE_SIZE = 4096;
const keyCache: (string | undefined)[] = new Array<string | undefined>(KEY_CACHE_SIZE).fill(undefined);

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57;
}

function isOutOfOrder(last: string, key: string): boolean {
  return isIntegerKey(key) && !(isIntegerKey(last) && Number(last) < Number(key));
}

function createDecodeError(reason: string): MongoError {
  return new MongoError(22, `invalid BSON: ${reason}`);
}
