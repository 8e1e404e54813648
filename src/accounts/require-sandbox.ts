import { env } from '../../config/env.js';
import { ForbiddenError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import type { Account } from './account.model.js';

/** Whether it is a test account of a sandbox. */
export function isSandbox({ mode }: Pick<Account, 'mode'>): boolean {
  return env.APP_MODE === 'sandbox' && mode === 'test';
}

/** What plays a part of somebody else is for test accounts of a sandbox alone. @throws ForbiddenError (403/07, `sandbox_only`) */
export function requireSandbox(account: Pick<Account, 'mode'>): void {
  if (!isSandbox(account)) {
    throw new ForbiddenError(say('sandboxOnly'), 'sandbox_only');
  }
}
