import { AccountModel, type Account, type ProviderSettings } from '../../accounts/account.model.js';
import { getProviderSecretContext } from '../../accounts/secret-contexts.js';
import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { runInTransaction } from '../../database/mongo.js';
import { requireAddress, type NewConnection } from '../../providers/check-connection.js';
import { hasDestination } from '../../providers/get-adapter.js';
import { ProviderStateModel, type ProviderState } from '../../providers/provider-state.model.js';
import { writeAndInvalidate } from '../../redis/publish-changes.js';
import { encrypt } from '../../shared/encryption.js';
import { ConflictError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import type { ClientSession } from 'mongoose';
import { PurchaseModel } from '../purchase.model.js';

/** Open purchases are counted up to this number. */
const countedMax = 1_000;

export interface ConnectionChange extends Partial<Omit<NewConnection, 'baseUrl'>> {
  baseUrl?: string | null | undefined;
  callbackSecret?: string;
}

/**
 * Gives a provider to a seller, or changes the kind, address, username or secret of its provider.
 * Omitted fields keep their value.
 *
 * Another kind, address or username is another system. The provider must be paused and no purchase
 * may wait for its result. A process with old settings can still send an order to the old system
 * after the change. So the old secrets stay with the account for the status checks of that order.
 *
 * @throws ConflictError if the account is no seller, the connection is incomplete, the provider is
 *   not paused, or purchases are open.
 */
export async function setConnection(seller: Account, change: ConnectionChange, by: ChangedBy): Promise<void> {
  await writeAndInvalidate([AccountModel, ProviderStateModel], null, (accounts, states) =>
    runInTransaction(async (session) => {
      const account = await accounts.findById(seller._id).session(session).lean<Account>();
      if (account?.role !== 'seller') {
        throw new ConflictError(asWritten(`${seller.username} is not a seller, so it has no provider.`));
      }
      const before = account.provider;
      const after = buildSettings(account, change);
      if (before && !isSameSystem(before, after)) {
        await requireIdle(account, session);
        await states.updateOne(
          { _id: account._id },
          { $set: { floatAmount: null, floatAt: null, priceList: { rows: null, doubt: null } } },
          { session },
        );
      }
      await accounts.updateOne({ _id: account._id }, { $set: { provider: after } }, { session });
      await recordAudit(session, {
        ...by,
        action: 'provider.connect',
        subject: { kind: 'provider', id: account._id },
        before: before && pickOpen(before),
        after: {
          ...pickOpen(after),
          ...(change.secret !== undefined && { secretChanged: true }),
          ...(change.callbackSecret !== undefined && { callbackSecretChanged: true }),
        },
      });
    }),
  );
}

function buildSettings({ _id, username, provider: before }: Account, change: ConnectionChange) {
  const context = getProviderSecretContext(_id);
  const kind = change.kind ?? before?.kind;
  const name = change.username ?? before?.username;
  const secretSealed = change.secret === undefined ? before?.secretSealed : encrypt(change.secret, context);
  if (kind === undefined || name === undefined || secretSealed === undefined) {
    throw new ConflictError(
      asWritten(`${username} has no provider yet. Give the kind, our username there and our secret.`),
    );
  }
  if (before && change.secret === undefined && kind !== before.kind) {
    throw new ConflictError(asWritten('Another kind of provider needs another secret. Give the secret.'));
  }
  const baseUrl = change.baseUrl === undefined ? getKeptAddress(before, kind) : change.baseUrl;
  requireAddress({ kind, baseUrl });
  const named = {
    kind,
    baseUrl,
    username: name,
    secretSealed,
    ...(change.callbackSecret !== undefined && {
      callbackSecretSealed: encrypt(change.callbackSecret, context),
    }),
  };
  if (!before || isSameSystem(before, named)) {
    return { ...before, ...named };
  }
  const { previous: _older, callsPerSecond: _calls, concurrency: _concurrent, ...kept } = before;
  const { kind: k, baseUrl: b, username: u, secretSealed: s, callbackSecretSealed, signWith } = kept;
  const previous = {
    kind: k,
    baseUrl: b,
    username: u,
    secretSealed: s,
    ...(typeof callbackSecretSealed === 'string' && { callbackSecretSealed }),
    ...(signWith && { signWith }),
  };
  return { ...named, ...(kept.maxWaitS && { maxWaitS: kept.maxWaitS }), previous };
}

/** The address of another kind is not that of the old one. */
function getKeptAddress(before: ProviderSettings | null, kind: ProviderSettings['kind']): string | null {
  return before?.kind === kind ? before.baseUrl : null;
}

type System = Pick<ProviderSettings, 'kind' | 'baseUrl' | 'username'>;

function isSameSystem(before: System, { kind, baseUrl, username }: System): boolean {
  return hasDestination(before, {
    providerKind: kind,
    providerBaseUrl: baseUrl,
    providerUsername: username,
  });
}

function pickOpen({ kind, baseUrl, username }: System): System {
  return { kind, baseUrl, username };
}

async function requireIdle({ _id, username }: Account, session: ClientSession): Promise<void> {
  const state = await ProviderStateModel.findById(_id).session(session).lean<ProviderState>();
  const open = await PurchaseModel.find(
    { status: { $in: ['PENDING', 'PROCESSING'] }, $or: [{ sellerId: _id }, { offerSellerId: _id }] },
    { _id: 1 },
  )
    .limit(countedMax)
    .session(session)
    .lean();
  const steps = `topup provider pause ${username}, wait until no purchase is open, then change it, check its product codes, and resume it.`;
  if (open.length > 0) {
    const count = open.length === countedMax ? `At least ${countedMax}` : String(open.length);
    throw new ConflictError(
      asWritten(`${count} open purchases of ${username} belong to the present provider. Do this: ${steps}`),
    );
  }
  if (!state?.paused) {
    throw new ConflictError(
      asWritten(`The provider of ${username} may receive orders while it is changed. Do this: ${steps}`),
    );
  }
}
