import mongoose, { Schema } from 'mongoose';
import { Money } from '../database/typed-collection.js';
import { readOnly } from '../database/read-only-model.js';

/** What a markup is for, the narrowest first: of those that fit one purchase the narrowest stands alone. */
export const markupScopes = ['product', 'subcategory', 'category', 'all'] as const;
export type MarkupScope = (typeof markupScopes)[number];

/** What buyers pay above the seller's price, and the platform keeps (decision 012). One of `percent` and `rupiah` is set. */
export interface Markup {
  /** Its owner, scope and what it names, see `markupId`: one rule for each. */
  _id: string;
  /** For this buyer alone; null: for those of the price group, or for all. */
  accountId: string | null;
  /** For the buyers of this group; null, or absent in a rule of a release that knew no groups: for all, or one alone. */
  priceGroup?: string | null;
  scope: MarkupScope;
  /** A product code, or a subcategory or category in lower case. Null for all. */
  of: string | null;
  /** Hundredths of a per cent, 0 to 10,000: whole, so that nothing is lost. */
  percentHundredths: number | null;
  /** Whole rupiah. */
  rupiah: number | null;
  createdAt: Date;
  updatedAt: Date;
}

const schema = new Schema<Markup>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, default: null },
    priceGroup: { type: String, default: null },
    scope: { type: String, required: true, enum: markupScopes },
    of: { type: String, default: null },
    percentHundredths: { type: Number, default: null },
    rupiah: { type: Money, default: null },
  },
  { collection: 'markups', timestamps: true, versionKey: false },
);

export const MarkupModel = readOnly<Markup>(mongoose.model('Markup', schema));

/** For whom a rule is. */
export type MarkupOwner = Pick<Markup, 'accountId' | 'priceGroup'>;

/** What a rule is for: whose, of which scope, and what it names. */
export type MarkupSubject = MarkupOwner & Pick<Markup, 'scope' | 'of'>;

/** How ids begin: by their first sign those for all come before those of groups, and these before those of accounts. */
export function getOwnerKey({ accountId, priceGroup = null }: MarkupOwner): string {
  return accountId ?? (priceGroup === null ? '*' : `+${priceGroup}`);
}

/** Neither ids of accounts, names of groups nor scopes have a space in them; whatever follows is what the rule names. */
export function getMarkupId({ scope, of, ...owner }: MarkupSubject): string {
  return `${getOwnerKey(owner)} ${scope}${of === null ? '' : ` ${of}`}`;
}

/** Between which two ids those of an owner are. */
export function getMarkupIdRange(owner: MarkupOwner): { from: string; to: string } {
  // The sign after the space.
  return { from: `${getOwnerKey(owner)} `, to: `${getOwnerKey(owner)}!` };
}

/** Between which two ids those of all groups are. */
export const groupIdRange = { from: '+', to: ',' };
