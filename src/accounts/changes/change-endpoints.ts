/** Webhook endpoints of an account (docs/reference/api/webhooks.md#webhook-endpoints). */
import { limits } from '../../../config/limits.js';
import { type Account, AccountModel } from '../account.model.js';
import { generateWebhookSecret } from '../create-account.js';
import {
  defaultEndpointId,
  getEndpoints,
  type EndpointSettings,
  type WebhookEndpoint,
  requireEndpoint,
  type EndpointOwner,
  type ReplacedSecret,
} from '../webhook-endpoint.js';
import { redactUrlSecrets } from '../../shared/mask.js';
import { ConflictError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { newId } from '../../shared/ids.js';
import { changeAccount, type AccountChanger } from './change-account.js';
import { sealWebhookSecret, openWebhookSecret } from '../../webhooks/deliver/sign-delivery.js';
import { redirectWaitingDeliveries } from '../../webhooks/endpoints/endpoint-status.js';
import { nowMs } from '../../shared/clock.js';
import { webhookLimits } from '../../webhooks/webhook-limits.js';

export type NewEndpoint = Pick<WebhookEndpoint, 'url'> & EndpointSettings;
export type EndpointChange = Partial<NewEndpoint>;

interface ChangedEndpoint {
  account: Account;
  /** Id of the endpoint. */
  id: string;
}

/**
 * Creates an endpoint with its own secret. If no `webhook_url` is set, the endpoint becomes the
 * `webhook_url` and uses the account's secret.
 *
 * @throws ConflictError (409/01) if there are already `limits.webhookEndpointsMax` endpoints, or
 *   another endpoint has this URL.
 * @throws SupersededKeyError (403/07) if the caller's key is not current.
 */
export async function createEndpoint(
  accountId: string,
  input: NewEndpoint,
  by: AccountChanger,
): Promise<ChangedEndpoint> {
  const other: WebhookEndpoint = {
    ...input,
    id: newId(),
    secretSealed: sealWebhookSecret(accountId, generateWebhookSecret()),
    previousSecret: null,
  };
  let id = other.id;
  const account = await changeAccount(accountId, by, (before) => {
    if (getEndpoints(before).length >= limits.webhookEndpointsMax) {
      throw new ConflictError(say('tooManyEndpoints', { max: limits.webhookEndpointsMax }), {
        reason: 'webhook_endpoint_limit_reached',
      });
    }
    refuseDuplicateUrl(before, input.url);
    const isFirst = before.webhookUrl === null;
    id = isFirst ? defaultEndpointId : other.id;
    return {
      set: isFirst
        ? buildDefaultEndpointFields(input)
        : { webhookEndpoints: [...(before.webhookEndpoints ?? []), other] },
      audit: { action: 'webhook-endpoint.create', after: { id, ...input } },
      guarded: [isFirst ? 'webhook_url' : 'webhook_endpoints'],
    };
  });
  await redirectWaitingDeliveries(account);
  return { account, id };
}

/**
 * Changes an endpoint. Absent fields keep their value. Waiting deliveries are sent to the new URL.
 *
 * @throws NotFoundError (404/02) if there is no such endpoint.
 * @throws ConflictError (409/01) if another endpoint has this URL.
 * @throws SupersededKeyError (403/07) if the caller's key is not current.
 */
export async function updateEndpoint(
  accountId: string,
  id: string,
  { change, by }: { change: EndpointChange; by: AccountChanger },
): Promise<Account> {
  const account = await changeAccount(accountId, by, (before) => {
    const old = requireEndpoint(before, id);
    const changed = (Object.keys(change) as (keyof EndpointChange)[]).filter(
      (field) => JSON.stringify(old[field]) !== JSON.stringify(change[field]),
    );
    if (changed.length === 0) {
      return null;
    }
    const after = { ...old, ...change };
    if (after.url !== old.url) {
      refuseDuplicateUrl(before, after.url);
    }
    const values = (of: EndpointChange) => ({
      id,
      ...Object.fromEntries(changed.map((field) => [field, of[field]])),
    });
    return {
      set:
        id === defaultEndpointId
          ? buildDefaultEndpointFields(after)
          : { webhookEndpoints: replaceEndpoint(before, id, [after]) },
      audit: { action: 'webhook-endpoint.update', before: values(old), after: values(after) },
      guarded: getGuardedFields(id, changed),
    };
  });
  await redirectWaitingDeliveries(account);
  return account;
}

/**
 * Removes an endpoint. Its waiting deliveries are dropped. Deliveries to `webhook_url` are held
 * instead, as if it were set to null.
 * @throws NotFoundError (404/02) if there is no such endpoint.
 * @throws SupersededKeyError (403/07) if the caller's key is not current.
 */
export async function removeEndpoint(accountId: string, id: string, by: AccountChanger): Promise<void> {
  const account = await changeAccount(accountId, by, (before) => {
    const { url, ...settings } = requireEndpoint(before, id);
    const isFirst = id === defaultEndpointId;
    return {
      set: isFirst
        ? { webhookUrl: null, webhookSettings: null }
        : { webhookEndpoints: replaceEndpoint(before, id, []) },
      audit: { action: 'webhook-endpoint.remove', before: { id, url, ...pickSettings(settings) } },
      guarded: [isFirst ? 'webhook_url' : 'webhook_endpoints'],
    };
  });
  await redirectWaitingDeliveries(account);
}

function buildDefaultEndpointFields({ url, ...settings }: NewEndpoint): Partial<Account> {
  return { webhookUrl: url, webhookSettings: pickSettings(settings) };
}

function pickSettings({
  events,
  version,
  description,
  inFlightLimit = null,
}: EndpointSettings): EndpointSettings {
  return { events, version, description, inFlightLimit };
}

function replaceEndpoint(
  { webhookEndpoints = [] }: Account,
  id: string,
  by: WebhookEndpoint[],
): WebhookEndpoint[] {
  return webhookEndpoints.flatMap((each) => (each.id === id ? by : [each]));
}

/**
 * Returns the guarded fields of a change. Description and in-flight limit are not guarded, because
 * they do not affect which events the owner gets.
 */
function getGuardedFields(id: string, changed: (keyof EndpointChange)[]): string[] {
  const names = changed.flatMap((field) => {
    if (field === 'description' || field === 'inFlightLimit') {
      return [];
    }
    return field === 'url' && id === defaultEndpointId ? ['webhook_url'] : ['webhook_endpoints'];
  });
  return [...new Set(names)];
}

/**
 * Refuses a second endpoint with the same URL, which would get every event twice. The usual cause
 * is a retry after a lost response.
 * @throws ConflictError (409/01) if another endpoint has this URL.
 */
export function refuseDuplicateUrl(account: Account, url: string): void {
  const twin = getEndpoints(account).find((each) => normalizeUrl(each.url) === normalizeUrl(url));
  if (twin) {
    throw new ConflictError(say('endpointTwin', { id: twin.id, url: redactUrlSecrets(twin.url) }), {
      reason: 'webhook_url_taken',
    });
  }
}

/**
 * Returns a canonical URL without its fragment, which is never sent. Percent-encoded letters,
 * digits, `-`, `.`, `_` and `~` are decoded (RFC 3986, 6.2.2.2).
 */
function normalizeUrl(text: string): string {
  const url = new URL(text);
  url.hash = '';
  return url.href.replace(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });
}

/**
 * Rotates an endpoint's secret. For 24 h, requests are signed with the previous secret as well, so
 * that receivers can switch without losing a request. Older secrets end at once. The owner's event
 * is signed with the previous secret.
 *
 * @param endpointId Id of the endpoint. The default endpoint uses the account's secret, which also
 *   signs callbacks. Null selects the account's secret even if no `webhook_url` is set.
 * @throws ConflictError if a concurrent rotation was first.
 * @throws NotFoundError if there is no such endpoint.
 * @throws SupersededKeyError (403/07) if the caller's key is not current.
 */
export async function rotateWebhookSecret(
  accountId: string,
  endpointId: string | null,
  by: AccountChanger,
): Promise<{ secret: string; previousValidUntil: Date }> {
  const account = await AccountModel.findById(accountId).lean<Account>();
  const seen = account && getSealedSecret(account, endpointId);
  const secret = generateWebhookSecret();
  const validUntil = new Date(nowMs() + webhookLimits.secretOverlapMs);
  await changeAccount(accountId, by, (before) => {
    const sealed = getSealedSecret(before, endpointId);
    if (seen === null || !isSameSealedSecret(accountId, sealed, seen)) {
      throw new ConflictError(say('secretJustRotated'));
    }
    return {
      set: buildSecretChange(before, endpointId, {
        sealed: sealWebhookSecret(accountId, secret),
        previous: { sealed, validUntil },
      }),
      audit: {
        action: 'webhook-secret.rotate',
        after: { endpointId: endpointId ?? defaultEndpointId, previousValidUntil: validUntil },
      },
      guarded: ['webhook_secret'],
    };
  });
  return { secret, previousValidUntil: validUntil };
}

/** @throws NotFoundError if there is no such endpoint. */
function getSealedSecret(account: EndpointOwner, endpointId: string | null): string {
  return endpointId === null
    ? account.webhookSecretSealed
    : requireEndpoint(account, endpointId).secretSealed;
}

function buildSecretChange(
  { webhookEndpoints }: Account,
  endpointId: string | null,
  { sealed, previous }: { sealed: string; previous: ReplacedSecret },
): Partial<Account> {
  return endpointId === null || endpointId === defaultEndpointId
    ? { webhookSecretSealed: sealed, previousWebhookSecret: previous }
    : {
        webhookEndpoints: (webhookEndpoints ?? []).map((each) =>
          each.id === endpointId ? { ...each, secretSealed: sealed, previousSecret: previous } : each,
        ),
      };
}

/**
 * True if both texts contain the same secret. They differ if `topup keys reencrypt` has encrypted
 * it again.
 */
function isSameSealedSecret(accountId: string, one: string, another: string): boolean {
  return one === another || openWebhookSecret(accountId, one) === openWebhookSecret(accountId, another);
}
