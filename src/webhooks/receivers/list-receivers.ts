import { AccountModel, type Account } from '../../accounts/account.model.js';
import { nowMs } from '../../shared/clock.js';
import { listUrlTargets } from '../replay/replay-deliveries.js';
import { receivers as receiverHealth, type Receiver, ReceiverModel } from './receiver.model.js';

/**
 * States of a receiver, worst first. A `left-alone` receiver has an open circuit breaker. The last
 * request to a `failing` receiver failed, and retries continue.
 */
export const receiverStates = ['disabled', 'left-alone', 'failing', 'healthy'] as const;
export type ReceiverState = (typeof receiverStates)[number];

export interface ListedReceiver {
  id: string;
  accountId: string;
  username: string;
  url: string;
  state: ReceiverState;
  /** Null if nothing ever went wrong. */
  health: Receiver | null;
}

/** Maximum number of accounts read for one page, even if few of them have a URL. */
const accountsReadMax = 500;

/**
 * Lists every URL of every account with its health, in pages of accounts by id. Within a page the
 * worst come first.
 * @param after Id of the last account of the previous page.
 * @returns `next`: the `after` of the next page. Null at the end.
 */
export async function findReceivers({
  after,
  accountId,
  accountsMax,
}: {
  after?: string | undefined;
  accountId?: string | undefined;
  accountsMax: number;
}): Promise<{ found: ListedReceiver[]; next: string | null }> {
  const looked = await AccountModel.find({
    ...(after !== undefined && { _id: { $gt: after } }),
    ...(accountId !== undefined && { _id: accountId }),
  })
    .sort({ _id: 1 })
    .limit(accountsReadMax)
    .select({ username: 1, webhookUrl: 1, callbackUrl: 1, webhookEndpoints: 1, webhookSettings: 1 })
    .lean<Account[]>();
  const withUrls = looked.filter((each) => listUrlTargets(each).length > 0);
  const page = withUrls.slice(0, accountsMax);
  const last = withUrls.length > accountsMax ? page.at(-1) : looked[accountsReadMax - 1];
  const targets = page.flatMap((account) =>
    // The callback URL may also be an endpoint. Both are then one receiver.
    [...new Map(listUrlTargets(account).map(({ target }) => [target.receiverId, target])).values()].map(
      (target) => ({ account, target }),
    ),
  );
  const rows = await receiverHealth
    .find({ _id: { $in: targets.map(({ target }) => target.receiverId) } })
    .toArray();
  const healthOf = new Map(rows.map((each) => [each._id, each]));
  const found = targets.map(({ account, target: { receiverId, url } }) => {
    const health = healthOf.get(receiverId) ?? null;
    const { _id, username } = account;
    return { id: receiverId, accountId: _id, username, url, state: getReceiverState(health), health };
  });
  found.sort((one, other) => receiverStates.indexOf(one.state) - receiverStates.indexOf(other.state));
  return { found, next: last?._id ?? null };
}

function getReceiverState(health: Receiver | null): ReceiverState {
  if (health === null) {
    return 'healthy';
  }
  if (health.disabledAt !== null) {
    return 'disabled';
  }
  if ((health.openUntil?.getTime() ?? 0) > nowMs()) {
    return 'left-alone';
  }
  return health.failures > 0 ? 'failing' : 'healthy';
}

/**
 * Finds receivers that get no requests: disabled (index `disabled_newest`, newest first), or with
 * an open circuit breaker (`left_alone`); at most `limit` of each.
 */
export async function findTroubledReceivers(limit: number): Promise<Receiver[]> {
  const [disabled, leftAlone] = await Promise.all([
    ReceiverModel.find({ disabledAt: { $type: 'date' } })
      .sort({ disabledAt: -1 })
      .limit(limit)
      .lean<Receiver[]>(),
    ReceiverModel.find({ openUntil: { $type: 'date', $gt: new Date(nowMs()) } })
      .limit(limit)
      .lean<Receiver[]>(),
  ]);
  return [...disabled, ...leftAlone.filter(({ disabledAt }) => disabledAt === null)];
}
