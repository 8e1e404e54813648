import { cached } from '../redis/cached.js';
import { OfferModel } from './offer.model.js';
import { ProductModel } from './product.model.js';

/** Rows that are read, decoded and dropped at once: a few milliseconds of a process. */
const pieceSize = 500;
/** What the pieces of one kind of list may weigh together in the memory of a process. */
const bytesMax = 64 * 1024 * 1024;

interface Piece<R> {
  rows: R[];
  after: string;
  /** Code of its last row; null: it is the last piece. */
  end: string | null;
  bytes: number;
}

interface Kind<L, R> {
  /** At most `size` rows about the products of a list whose codes come after `after`, by code. */
  read: (list: L, after: string, size: number) => Promise<R[]>;
  codeOf: (row: R) => string;
  /** Roughly what the row weighs in memory. */
  bytesOf: (row: R) => number;
}

/**
 * Lists of products from each process's own memory, kept in pieces of neighbouring codes (decision 030): callers at the
 * same time read a piece once, a change of a product or an offer drops the pieces that its code belongs to, and nothing
 * holds the event loop for as long as a whole list takes.
 * @returns what gives all the rows of a list, by code. `L` must be JSON.
 */
export function cachedPieces<L, R>({ read, codeOf, bytesOf }: Kind<L, R>): (list: L) => Promise<R[]> {
  async function load(key: string): Promise<Piece<R>> {
    const [after, list] = JSON.parse(key) as [string, L];
    const rows = await read(list, after, pieceSize);
    const last = rows.at(-1);
    return {
      rows,
      after,
      end: last && rows.length === pieceSize ? codeOf(last) : null,
      bytes: rows.reduce((sum, row) => sum + bytesOf(row), 0),
    };
  }
  const pieceOf = cached({
    from: [ProductModel, OfferModel],
    load,
    isAbout: ({ after, end }, code) => code > after && (end === null || code <= end),
    weight: { of: ({ bytes }) => bytes, max: bytesMax },
  });

  return async (list) => {
    const rows: R[] = [];
    let after: string | null = '';
    while (after !== null) {
      const piece: Piece<R> = await pieceOf(JSON.stringify([after, list]));
      rows.push(...piece.rows);
      after = piece.end;
    }
    return rows;
  };
}
