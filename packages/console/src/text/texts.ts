import { bank } from './bank.js';
import { common } from './common.js';
import { finance } from './finance.js';
import { jobs } from './jobs.js';
import { operators } from './operators.js';
import { portal } from './portal.js';
import { products } from './products.js';
import { running } from './running.js';
import { system } from './system.js';
import { today } from './today.js';
import { webhooks } from './webhooks.js';

/** All texts of the pages. The compiler rejects a text that lacks one of the languages. */
export const texts = {
  ...common,
  ...portal,
  ...running,
  ...bank,
  ...finance,
  ...products,
  ...operators,
  ...system,
  ...jobs,
  ...webhooks,
  ...today,
} satisfies Record<string, Record<'en' | 'id', string>>;
