import Joi from 'joi';
import { setAccount } from '../../accounts/set-account.js';
import { priceGroup, reason, type Reason } from '../api/console-operation.js';
import { defineAccountChange } from './account-operation.js';

interface Body extends Reason {
  group: string | null;
}

export const setPriceGroup = defineAccountChange({
  id: 'setPriceGroup',
  verb: 'group',
  // It changes what the account pays, as a markup of its own would.
  action: 'markup.set',
  summary: 'Put an account into a price group, or take it out of the one that it is in',
  body: Joi.object<Body>({
    group: priceGroup.allow(null).required().description('Null: none.'),
    reason,
  }),
  async run({ _id }, { body: { group }, by }) {
    const { changed } = await setAccount(_id, { priceGroup: group }, by);
    return { changed: changed.length > 0 };
  },
});
