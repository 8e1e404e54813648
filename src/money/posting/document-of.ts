import type { Document } from 'mongodb';
import type { Change, Insert, WalletAfter } from './posting.js';

/** The document of an insert, after what the posting did to the wallet. */
export function getInsertDocument(insert: Insert, after: WalletAfter | null): Document {
  return 'document' in insert ? insert.document : insert.documentAfter(requireWallet(after));
}

export function getChangeSet(change: Change, after: WalletAfter | null): Document {
  return 'set' in change ? change.set : change.setAfter(requireWallet(after));
}

function requireWallet(after: WalletAfter | null): WalletAfter {
  if (!after) {
    throw new Error('A document that tells of the wallet belongs to a posting that changes it');
  }
  return after;
}
