import { AccountModel, type Account } from '../accounts/account.model.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { now } from '../shared/clock.js';
import { encrypt } from '../shared/encryption.js';
import { ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { runInTransaction } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/publish-changes.js';
import { readBacklogs, type Backlog } from './backlog.js';
import { readCircuits, closeCircuit, type CircuitView } from './circuit.js';
import { endPause } from './pause.js';
import { getProviderSecretContext } from '../accounts/secret-contexts.js';
import { ProviderStateModel, type ProviderState } from './provider-state.model.js';

export interface ProviderOverview {
  seller: Pick<Account, '_id' | 'username' | 'status' | 'provider'>;
  state: ProviderState | null;
  circuit: CircuitView | null;
  /** The orders that wait in the provider's queue. */
  backlog: Backlog | null;
}

/** Returns every seller that has a provider, by username. */
export async function listProviders(): Promise<ProviderOverview[]> {
  const fields = { username: 1, status: 1, provider: 1 };
  const [sellers, states] = await Promise.all([
    AccountModel.find({ role: 'seller' }, fields)
      .sort({ createdAt: -1 })
      .lean<ProviderOverview['seller'][]>(),
    ProviderStateModel.find().lean<ProviderState[]>(),
  ]);
  const served = sellers.filter(({ provider }) => provider !== null);
  const [circuits, backlogs] = await Promise.all([
    readCircuits(served.map(({ _id }) => _id)),
    readBacklogs(served),
  ]);
  return served
    .sort((a, b) => a.username.localeCompare(b.username))
    .map((seller) => ({
      seller,
      state: states.find(({ _id }) => _id === seller._id) ?? null,
      circuit: circuits.get(seller._id) ?? null,
      backlog: backlogs.get(seller._id) ?? null,
    }));
}

/**
 * Stops new orders to a seller's provider, from the next order on. Status checks of sent orders
 * continue. The change is audited.
 * @throws ConflictError if the provider is already paused or the seller has none.
 */
export async function pauseProvider(seller: Account, by: ChangedBy): Promise<void> {
  const paused = { reason: by.reason ?? '', by: by.actor, at: now() };
  await setPaused(seller, paused, by);
}

/**
 * Resumes a seller's provider and closes its circuit. This clears earlier counts and a pause that
 * the provider requested. The change is audited.
 * @throws ConflictError if the seller has no provider.
 */
export async function resumeProvider(seller: Account, by: ChangedBy): Promise<void> {
  await setPaused(seller, null, by);
  await endPause(seller._id);
  await closeCircuit(seller._id);
}

/** Another system is set by src/purchases/fulfil/set-connection.ts. */
export interface ProviderChange {
  /** The secret in clear text. It is stored encrypted. */
  secret?: string;
  callbackSecret?: string;
  signWith?: 'hmac' | 'md5';
  /** Null removes the limit. */
  callsPerSecond?: number | null;
  concurrency?: number | null;
  /** Maximum wait in seconds. Null sets the default. */
  maxWaitS?: number | null;
  /** Replaces the list. Null removes it. */
  serialPlaceholders?: string[] | null;
}

/**
 * Changes the provider settings of a seller, from the next order on. Omitted fields keep their
 * value. The change is audited.
 * @throws ConflictError if the seller has no provider.
 */
export async function changeProvider(seller: Account, change: ProviderChange, by: ChangedBy): Promise<void> {
  const { secret, callbackSecret, ...open } = change;
  const context = getProviderSecretContext(seller._id);
  const sealed = {
    ...(secret !== undefined && { secretSealed: encrypt(secret, context) }),
    ...(callbackSecret !== undefined && { callbackSecretSealed: encrypt(callbackSecret, context) }),
  };
  const fields = Object.entries({ ...open, ...sealed }).map(([name, value]) => [`provider.${name}`, value]);
  await writeAndInvalidate([AccountModel], [seller._id], (accounts) =>
    runInTransaction(async (session) => {
      const result = await accounts.updateOne(
        { _id: seller._id, provider: { $ne: null } },
        { $set: Object.fromEntries(fields) as Record<string, unknown> },
        { session },
      );
      if (result.matchedCount === 0) {
        throw new ConflictError(asWritten(`${seller.username} has no provider.`));
      }
      await recordAudit(session, {
        ...by,
        action: 'provider.change',
        subject: { kind: 'provider', id: seller._id },
        before: pickNamed(open, seller.provider),
        // For a secret, the audit entry only states that it changed.
        after: {
          ...open,
          ...(secret && { secretChanged: true }),
          ...(callbackSecret && { callbackSecretChanged: true }),
        },
      });
    }),
  );
}

function pickNamed(change: object, settings: object | null): object {
  const before = new Map<string, unknown>(Object.entries(settings ?? {}));
  return Object.fromEntries(Object.keys(change).map((name) => [name, before.get(name) ?? null]));
}

async function setPaused(seller: Account, paused: ProviderState['paused'], by: ChangedBy): Promise<void> {
  if (!seller.provider) {
    throw new ConflictError(asWritten(`${seller.username} has no provider.`));
  }
  await writeAndInvalidate([ProviderStateModel], [seller._id], (states) =>
    runInTransaction(async (session) => {
      const before = await states.findById(seller._id).session(session).lean<ProviderState>();
      if (paused && before?.paused) {
        throw new ConflictError(asWritten(`The provider of ${seller.username} is already paused.`));
      }
      await states.updateOne(
        { _id: seller._id },
        { $set: { paused }, $setOnInsert: { floatAmount: null, floatAt: null } },
        { session, upsert: true },
      );
      await recordAudit(session, {
        ...by,
        action: paused ? 'provider.pause' : 'provider.resume',
        subject: { kind: 'provider', id: seller._id },
        before: { paused: before?.paused ?? null },
        after: { paused },
      });
    }),
  );
}
