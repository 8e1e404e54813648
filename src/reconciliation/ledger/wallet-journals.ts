import { Long, type Document } from 'mongodb';
import { journals } from '../../money/journals/journal.model.js';
import { createKeyedStream, type KeyedStream } from './keyed-stream.js';
import { rawReadOptions } from './read-document.js';
import * as stored from './stored.js';

/**
 * The journals of all wallets by rising account, which is the wallet (check-journal.ts), and sequence number, in batches
 * that may end within a wallet.
 */
export function streamWalletJournals(): KeyedStream {
  return createKeyedStream({
    readBatch: readNextBatch,
    keyOf: ({ accountId }) => (typeof accountId === 'string' ? accountId : null),
    positionOf: ({ accountId, walletSeq }) => `${String(accountId)} ${String(walletSeq)}`,
  });
}

/** Those of one wallet. */
export async function* readWalletJournals(walletId: string): AsyncGenerator<Document, void> {
  const stream = createKeyedStream({
    readBatch: (from, limit) => readOfWallet(walletId, from, limit),
    keyOf: () => walletId,
    positionOf: ({ walletSeq }) => String(walletSeq),
  });
  while (stream.isEmpty()) {
    await stream.fill();
    yield* stream.take(walletId);
  }
}

async function readNextBatch(from: Document | null, limit: number): Promise<Document[]> {
  const walletId: unknown = from?.['accountId'];
  const own = typeof walletId === 'string' ? await readOfWallet(walletId, from, limit) : [];
  return own.length === limit
    ? own
    : [
        ...own,
        ...(await readJournals(
          { accountId: buildAboveFilter(walletId), walletId: isText },
          limit - own.length,
        )),
      ];
}

/** The filter of the index: without it no query may use it. */
const isText = { $type: 'string' };

function buildAboveFilter(walletId: unknown) {
  return typeof walletId === 'string' ? { ...isText, $gt: walletId } : isText;
}

function readOfWallet(walletId: string, from: Document | null, limit: number): Promise<Document[]> {
  const wallet = { accountId: walletId, walletId: { ...isText, $eq: walletId } };
  const seq: unknown = from?.['walletSeq'];
  return readJournals(
    from === null ? wallet : { ...wallet, walletSeq: { $gte: isNumber(seq) ? seq : -Infinity } },
    limit,
  );
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || Long.isLong(value);
}

function readJournals(filter: Document, limit: number): Promise<Document[]> {
  return journals
    .find(filter, { ...rawReadOptions, projection: stored.journals.fields, batchSize: limit + 1 })
    .sort({ accountId: 1, walletId: 1, walletSeq: 1 })
    .limit(limit)
    .toArray();
}
