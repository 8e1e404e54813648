import { AccountModel } from '../accounts/account.model.js';
import { forgetAuthentication } from '../accounts/known-keys.js';
import { newWebhookSecret } from '../accounts/create-account.js';
import { forgetAccount } from '../accounts/find-account.js';
import { nowMs } from '../shared/clock.js';
import { ConflictError, NotFoundError } from '../shared/errors.js';
import { webhookLimits } from './webhook-limits.js';
import { sealWebhookSecret } from './webhook-secret.js';

/**
 * A new webhook secret. The one before it signs too for 24 h, so that receivers can change over without losing a
 * request; an older one stops at once.
 * @throws ConflictError if another rotation came first.
 */
export async function rotateWebhookSecret(
  accountId: string,
): Promise<{ secret: string; previousValidUntil: Date }> {
  const account = await AccountModel.findById(accountId, { webhookSecretSealed: 1 }).lean();
  if (!account) {
    throw new NotFoundError('There is no such account.');
  }
  const secret = newWebhookSecret();
  const validUntil = new Date(nowMs() + webhookLimits.secretOverlapMs);
  const { matchedCount } = await AccountModel.updateOne(
    { _id: accountId, webhookSecretSealed: account.webhookSecretSealed },
    {
      $set: {
        webhookSecretSealed: sealWebhookSecret(accountId, secret),
        previousWebhookSecret: { sealed: account.webhookSecretSealed, validUntil },
      },
    },
  );
  if (matchedCount === 0) {
    throw new ConflictError('The secret was rotated a moment ago. Read the present one from api/config.');
  }
  forgetAccount(accountId);
  forgetAuthentication();
  return { secret, previousValidUntil: validUntil };
}
