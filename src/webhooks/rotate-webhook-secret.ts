import { AccountModel, type Account } from '../accounts/account.model.js';
import { generateWebhookSecret } from '../accounts/create-account.js';
import { defaultEndpointId, type EndpointOwner, type ReplacedSecret } from '../accounts/webhook-endpoint.js';
import { nowMs } from '../shared/clock.js';
import { ConflictError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { changeAccount, type AccountChanger } from './change-account.js';
import { requireEndpoint } from './require-endpoint.js';
import { webhookLimits } from './webhook-limits.js';
import { openWebhookSecret, sealWebhookSecret } from './webhook-secret.js';

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
