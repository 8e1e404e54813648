import { setAccountStatus } from '../../accounts/set-account-status.js';
import { defineAccountChange } from './account-operation.js';

export const suspendAccount = defineAccountChange({
  id: 'suspendAccount',
  verb: 'suspend',
  action: 'account.suspend',
  summary: 'Refuse every call of an account from the next on',
  run: async (account, { by }) => ({ changed: await setAccountStatus(account, 'suspended', by) }),
});

export const resumeAccount = defineAccountChange({
  id: 'resumeAccount',
  verb: 'resume',
  action: 'account.suspend',
  summary: 'Let a suspended account in again',
  run: async (account, { by }) => ({ changed: await setAccountStatus(account, 'active', by) }),
});
