/** Making, changing and removing webhook endpoints (docs/reference/api/webhooks.md#webhook-endpoints). */
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

interface Changed {
  account: Account;
  /** Of the endpoint. */
  id: string;
}

/**
 * Makes an endpoint, with a secret of its own. While no `webhook_url` is set, it becomes that, and has the account's secret.
 * @throws ConflictError (409/01) for one more than `limits.webhookEndpointsMax`, or a URL that has an endpoint already.
 * @throws SupersededKeyError (403/07)
 */
export async function createEndpoint(
  accountId: string,
  given: NewEndpoint,
  by: AccountChanger,
): Promise<Changed> {
  const other: WebhookEndpoint = {
    ...given,
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
    refuseDuplicateUrl(before, given.url);
    const isFirst = before.webhookUrl === null;
    id = isFirst ? defaultEndpointId : other.id;
    return {
      set: isFirst
        ? buildDefaultEndpointFields(given)
        : { webhookEndpoints: [...(before.webhookEndpoints ?? []), other] },
      audit: { action: 'webhook-endpoint.create', after: { id, ...given } },
      guarded: [isFirst ? 'webhook_url' : 'webhook_endpoints'],
    };
  });
  await redirectWaitingDeliveries(account);
  return { account, id };
}

/**
 * Changes an endpoint; what is left out stays. What still waits for its old URL goes to the new one.
 * @throws NotFoundError (404/02). @throws ConflictError (409/01) for a URL that another endpoint has.
 * @throws SupersededKeyError (403/07)
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
 * Removes an endpoint. What still waits for it is dropped; what waits for `webhook_url` is held, as when that is set to null.
 * @throws NotFoundError (404/02). @throws SupersededKeyError (403/07)
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

/** What it is for, and its pace, may be told anew at any time; all else decides what the owner hears. */
function getGuardedFields(id: string, changed: (keyof EndpointChange)[]): string[] {
  const names = changed.flatMap((field) => {
    if (field === 'description' || field === 'inFlightLimit') {
      return [];
    }
    return field === 'url' && id === defaultEndpointId ? ['webhook_url'] : ['webhook_endpoints'];
  });
  return [...new Set(names)];
}

/** Two with one URL would hear everything twice: most likely a call that was repeated because its answer was lost. */
export function refuseDuplicateUrl(account: Account, url: string): void {
  const twin = getEndpoints(account).find((each) => normalizeUrl(each.url) === normalizeUrl(url));
  if (twin) {
    throw new ConflictError(say('endpointTwin', { id: twin.id, url: redactUrlSecrets(twin.url) }), {
      reason: 'webhook_url_taken',
    });
  }
}

/**
 * A URL as it is called: spelt in one way, and without its fragment, which is never sent. Letters, digits, `-`, `.`, `_`
 * and `~` mean the same percent-encoded (RFC 3986, 6.2.2.2).
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
 * A new secret for an endpoint. The one before it signs too for 24 h, so that receivers can change over without losing a
 * request; an older one stops at once. The owner is told, signed with the old one.
 * @param endpointId Of the first it is the account's secret, which signs callbacks too. Null: that one, also while no
 * `webhook_url` is set.
 * @throws ConflictError if another rotation came first. @throws NotFoundError. @throws SupersededKeyError (403/07)
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

/** @throws NotFoundError */
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

/** Also where `topup keys reencrypt` has sealed it anew in between. */
function isSameSealedSecret(accountId: string, one: string, another: string): boolean {
  return one === another || openWebhookSecret(accountId, one) === openWebhookSecret(accountId, another);
}
