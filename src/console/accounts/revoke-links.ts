import { revokeAccountLinks } from '../../reports/revoke-links.js';
import { defineAccountChange } from './account-operation.js';

export const revokeLinks = defineAccountChange({
  id: 'revokeLinks',
  verb: 'revoke-links',
  action: 'account.revoke-links',
  summary: 'End every download link of the reports of an account',
  async run({ _id }, { by }) {
    await revokeAccountLinks(_id, by);
    return { changed: true };
  },
});
