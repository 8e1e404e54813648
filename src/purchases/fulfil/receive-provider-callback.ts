import { accountById } from '../../accounts/find-account.js';
import type { ProviderAdapter } from '../../providers/adapter.js';
import { adapterFor, connectionOf } from '../../providers/get-adapter.js';
import { ForbiddenError, NotFoundError, UnauthorizedError, ValidationError } from '../../shared/errors.js';
import { logger } from '../../shared/logger.js';
import { AttemptModel, type Attempt } from '../order.model.js';
import { enqueueCallbackCheck } from './enqueue-purchase.js';
import { openCase } from './record-contradiction.js';
import { TransactionModel, type Transaction } from '../purchase.model.js';
import { enqueueVerification } from './verify-sale.js';

export interface InboundCallback {
  protocol: 'h2h' | 'digiflazz';
  /** The bytes as they came: the signature covers them. */
  raw: Buffer;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * A provider tells what became of an order (decisions 17.5). Nothing in it is believed: a right signature only
 * makes us ask for the status at once, and the answer to that moves the money. So a callback that is repeated,
 * late, out of order or wrong changes nothing; one that contradicts a closed attempt is looked into.
 * @throws ValidationError, NotFoundError, ForbiddenError, UnauthorizedError: it was not accepted.
 */
export async function receiveProviderCallback(callback: InboundCallback): Promise<void> {
  const adapter = adapterFor(callback.protocol);
  const told = adapter.readCallback(callback.raw);
  if (!told) {
    throw new ValidationError([{ field: 'body', message: 'This is not a callback of this protocol.' }]);
  }
  if (told.kind === 'ping') {
    return;
  }
  const attempt = await AttemptModel.findById(told.providerRef).lean<Attempt>();
  if (!attempt) {
    throw new NotFoundError('There is no order with this ref_id.');
  }
  await requireSignature(adapter, attempt, callback);
  logger.info('provider callback', { attemptId: attempt._id, sellerId: attempt.sellerId, says: told.says });
  if (attempt.open) {
    await askNow(attempt, told.says);
  } else if (told.says !== 'pending') {
    await lookIntoContradiction(attempt, told.says);
  }
}

/** The order's own seller must speak this protocol, and its provider must have signed. */
async function requireSignature(
  adapter: ProviderAdapter,
  attempt: Attempt,
  { protocol, raw, headers }: InboundCallback,
): Promise<void> {
  if ((attempt.providerKind === 'digiflazz') !== (protocol === 'digiflazz')) {
    throw new ForbiddenError('This order went to a provider of another protocol.');
  }
  const connection = connectionOf(await accountById(attempt.sellerId));
  if (!adapter.isCallbackSigned(connection, raw, headers)) {
    throw new UnauthorizedError('The signature is not right.');
  }
}

async function askNow(attempt: Attempt, says: string): Promise<void> {
  const { transactionId } = attempt;
  const transaction = await TransactionModel.findById(transactionId).lean<Transaction>();
  if (transaction?.reviewSince) {
    const detail = `While it waits for a decision, the provider's callback says ${says}.`;
    await openCase({ transactionId, kind: 'review', detail });
  } else {
    await enqueueCallbackCheck(attempt, 0);
  }
}

async function lookIntoContradiction(attempt: Attempt, says: 'success' | 'failed'): Promise<void> {
  const { transactionId } = attempt;
  if (attempt.status === 'OK' && says === 'failed') {
    // Perhaps taken back after success: ask, and see verify-sale.ts.
    await enqueueVerification(attempt, 0);
  } else if (attempt.status === 'REJECTED' && says === 'success') {
    await openCase({
      transactionId,
      kind: 'contradicting-answer',
      detail: `Attempt ${attempt.n} was refused or never executed, a signed callback says success.`,
    });
  }
}
