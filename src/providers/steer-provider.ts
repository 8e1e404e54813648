/** What the operator does with a seller's provider by hand. Each change is audited with its reason. */
import type { Account } from '../accounts/account.model.js';
import { AccountModel } from '../accounts/account.model.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { now } from '../shared/clock.js';
import { ConflictError } from '../shared/errors.js';
import { inTransaction } from '../shared/mongo.js';
import { circuitsOf, closeCircuit, type CircuitView } from './circuit.js';
import { ProviderStateModel, type ProviderState } from './provider-state.model.js';
import { forgetRoutes } from './route-board.js';

export interface ProviderOverview {
  seller: Pick<Account, '_id' | 'username' | 'status' | 'provider'>;
  state: ProviderState | null;
  circuit: CircuitView | null;
}

/** Every seller that has a provider, by username. */
export async function listProviders(): Promise<ProviderOverview[]> {
  const fields = { username: 1, status: 1, provider: 1 };
  const [sellers, states] = await Promise.all([
    AccountModel.find({ role: 'seller' }, fields)
      .sort({ createdAt: -1 })
      .lean<ProviderOverview['seller'][]>(),
    ProviderStateModel.find().lean<ProviderState[]>(),
  ]);
  const served = sellers.filter(({ provider }) => provider !== null);
  const circuits = await circuitsOf(served.map(({ _id }) => _id));
  return served
    .sort((a, b) => a.username.localeCompare(b.username))
    .map((seller) => ({
      seller,
      state: states.find(({ _id }) => _id === seller._id) ?? null,
      circuit: circuits.get(seller._id) ?? null,
    }));
}

/**
 * Sends no new orders there; those under way are asked about as before. Takes effect within a second.
 * @throws ConflictError if it is paused already, or the seller has no provider.
 */
export async function pauseProvider(seller: Account, by: ChangedBy): Promise<void> {
  const paused = { reason: by.reason ?? '', by: by.actor, at: now() };
  await setPaused(seller, paused, by);
}

/**
 * Orders go there again, with a closed circuit: what was counted before says nothing about now.
 * @throws ConflictError if the seller has no provider.
 */
export async function resumeProvider(seller: Account, by: ChangedBy): Promise<void> {
  await setPaused(seller, null, by);
  await closeCircuit(seller._id);
}

async function setPaused(seller: Account, paused: ProviderState['paused'], by: ChangedBy): Promise<void> {
  if (!seller.provider) {
    throw new ConflictError(`${seller.username} has no provider.`);
  }
  await inTransaction(async (session) => {
    const before = await ProviderStateModel.findById(seller._id).session(session).lean<ProviderState>();
    if (paused && before?.paused) {
      throw new ConflictError(`The provider of ${seller.username} is paused already.`);
    }
    await ProviderStateModel.updateOne(
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
  });
  forgetRoutes();
}
