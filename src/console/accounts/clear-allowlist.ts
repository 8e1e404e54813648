import { updateConfig } from '../../webhooks/update-config.js';
import { defineAccountChange } from './account-operation.js';

export const clearAllowlist = defineAccountChange({
  id: 'clearAllowlist',
  verb: 'clear-allowlist',
  action: 'account.clear-allowlist',
  summary: 'Let an account be used from any address again',
  async run({ _id, ipWhitelist }, { by }) {
    await updateConfig(_id, { ipWhitelist: [] }, { ...by, keyId: null });
    return { changed: ipWhitelist.length > 0 };
  },
});
