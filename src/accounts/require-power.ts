import type { Session } from '../database/mongo.js';
import { ForbiddenError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { ApiKeyModel } from './api-key.model.js';
import type { Authenticated } from './authenticate.js';

/**
 * What a credential may do (docs/reference/api/authentication.md). `trade`: buy, sell, read, for whatever authenticates.
 * `own`: see keys and secrets, replace them, change the configuration, for the current API key itself alone. So who
 * has found an old key or a token keeps neither a foot in the account nor its owner out.
 */
export type Power = 'trade' | 'own';

/**
 * The key is read from the database: one that another process has replaced a moment ago has no power here, whatever
 * this process remembers.
 * @throws ForbiddenError (403/07) that says which credential to send.
 */
export async function requirePower(by: Authenticated, power: Power): Promise<void> {
  if (power === 'trade') {
    return;
  }
  if (by.isToken) {
    throw new ForbiddenError(say('tokenMayNot'), 'current_key_required');
  }
  await requireCurrentKey(null, by.keyId);
}

/**
 * @param session The database transaction of what the key wants to change: nothing passes between check and write.
 * @param keyId Null: no key asks but the operator.
 * @throws SupersededKeyError (403/07)
 */
export async function requireCurrentKey(session: Session | null, keyId: string | null): Promise<void> {
  if (keyId === null) {
    return;
  }
  const key = await ApiKeyModel.findById(keyId, { validUntil: 1 }).session(session).lean();
  if (!key || key.validUntil !== null) {
    throw new SupersededKeyError();
  }
}

/** The key was replaced, perhaps while its call was under way. */
export class SupersededKeyError extends ForbiddenError {
  constructor() {
    super(say('keySuperseded'), 'current_key_required');
  }
}
