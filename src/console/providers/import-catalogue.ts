import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { nameSchema, rupiah, text } from '../../api/contract/fields.js';
import { applyCatalogue } from '../../providers/supplier-catalogue/apply-catalogue.js';
import { roundings } from '../../providers/supplier-catalogue/margin-rule.js';
import {
  planCatalogue,
  skipReasons,
  type CataloguePlan,
  type CatalogueRequest,
} from '../../providers/supplier-catalogue/plan-catalogue.js';
import { reason, requiredObject, type Reason } from '../api/console-operation.js';
import { shownMax } from '../imports/import-prices.js';
import { defineProviderOperation } from './define-provider-operation.js';

interface Filter {
  category?: string;
  brand?: string;
  search?: string;
  margin_percent: number;
  margin_amount: number;
  round_to: number;
  map?: { sku: string; code: string }[];
}

const filterFields = {
  category: text(200).description("Only rows of this category, in the provider's words."),
  brand: text(200).description("Only rows of this brand, in the provider's words."),
  search: text(100).description('Only rows whose code or name contains this text.'),
  margin_percent: Joi.number().min(0).max(999).precision(2).default(0),
  margin_amount: rupiah({ min: 0, max: limits.offerPriceMax }).default(0),
  round_to: Joi.number()
    .valid(...roundings)
    .default(1)
    .description('Prices are rounded up to a multiple of this many rupiah.'),
  map: Joi.array()
    .items(Joi.object({ sku: text(64).required(), code: text(50).required() }))
    .max(1_000)
    .description('Existing products for codes of the provider.'),
};

const planData = nameSchema(
  'CataloguePlan',
  requiredObject({
    rows: Joi.number().description('Rows of the price list that match.'),
    created: Joi.number().description('Number of new offers. `creates` may show fewer.'),
    losing: Joi.number().description('New and changed offers at which each sale would lose money.'),
    creates: Joi.array().items(
      requiredObject({
        sku: Joi.string(),
        code: Joi.string(),
        name: Joi.string(),
        subcategory: Joi.string(),
        operator: Joi.string().allow(null),
        cost: Joi.number(),
        price: Joi.number(),
        loses: Joi.boolean(),
        unlike: Joi.boolean().description('The mapped product may be another one.'),
      }),
    ),
    changed: Joi.number().description('Number of changed offers. `changes` may show fewer.'),
    risky: Joi.number().description('Of these, offers that lose money, fall by half or rise fivefold.'),
    changes: Joi.array().items(
      requiredObject({ code: Joi.string(), was: Joi.number(), price: Joi.number(), risky: Joi.boolean() }),
    ),
    unchanged: Joi.number(),
    skipped: Joi.array().items(
      requiredObject({
        why: Joi.string().valid(...skipReasons),
        count: Joi.number(),
        skus: Joi.array().items(Joi.string()).description('The first ten.'),
      }),
    ),
    fingerprint: Joi.string().description('Hash of all changes. Pass it to apply exactly these.'),
  }),
);

function toRequest(filter: Filter): CatalogueRequest {
  const {
    category,
    brand,
    search,
    margin_percent: percent,
    margin_amount: amount,
    round_to: roundTo,
  } = filter;
  return {
    group: category,
    brand,
    search,
    margin: { percent, amount, roundTo },
    mapped: new Map(filter.map?.map(({ sku, code }) => [sku, code])),
  };
}

function presentPlan({
  rows,
  creates,
  changes: { changes, unchanged },
  skipped,
  fingerprint,
}: CataloguePlan) {
  const isRisky = ({ loses, falls, rises }: (typeof changes)[number]) => loses || falls || rises;
  return {
    rows,
    created: creates.length,
    losing: [...creates, ...changes].filter(({ loses }) => loses).length,
    creates: creates.slice(0, shownMax).map(({ sku, listedName, product, cost, price, loses, isUnlike }) => ({
      sku,
      code: product.code,
      name: listedName,
      subcategory: product.subcategory,
      operator: product.operator,
      cost,
      price,
      loses,
      unlike: isUnlike,
    })),
    changed: changes.length,
    risky: changes.filter(isRisky).length,
    changes: changes.slice(0, shownMax).map((each) => ({
      code: each.code,
      was: each.before.price,
      price: each.after.price,
      risky: isRisky(each),
    })),
    unchanged,
    skipped: skipReasons.flatMap((why) => {
      const skus = skipped.filter((each) => each.why === why).map(({ sku }) => sku);
      return skus.length === 0 ? [] : { why, count: skus.length, skus: skus.slice(0, 10) };
    }),
    fingerprint,
  };
}

export const previewCatalogue = defineProviderOperation({
  id: 'previewCatalogue',
  method: 'post',
  verb: 'catalogue/preview',
  action: 'price-import.look',
  asks: true,
  summary: "Preview the products and offers that a provider's price list would become",
  body: Joi.object<Filter>(filterFields),
  data: planData,
  run: async (seller, { body }) => presentPlan(await planCatalogue(seller, toRequest(body))),
});

interface ApplyBody extends Filter, Reason {
  fingerprint: string;
  meant: boolean;
}

export const applyCatalogueCall = defineProviderOperation({
  id: 'applyCatalogue',
  method: 'post',
  verb: 'catalogue',
  action: 'product.set',
  summary: "Create and change products and offers from a provider's price list, as previewed",
  body: Joi.object<ApplyBody>({
    ...filterFields,
    fingerprint: text(64).required(),
    meant: Joi.boolean()
      .default(false)
      .description('Also apply prices that lose money, fall by more than half or rise fivefold.'),
    reason,
  }),
  data: requiredObject({
    id: Joi.string().description('Id of the import, for its undo.'),
    created: Joi.number(),
    changed: Joi.number(),
    kept: Joi.array()
      .items(Joi.string())
      .description('Codes that somebody changed meanwhile and that were left as they are.'),
  }),
  async run(seller, { body: { fingerprint, meant, ...filter }, by }) {
    const { importId, created, changed, kept } = await applyCatalogue(
      seller,
      { ...toRequest(filter), fingerprint, meant },
      by,
    );
    return { id: importId, created, changed, kept: kept.slice(0, shownMax) };
  },
});
