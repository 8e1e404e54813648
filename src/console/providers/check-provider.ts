import Joi from 'joi';
import { productCode } from '../../api/contract/fields.js';
import { obstacles, rankCriteria } from '../../providers/choose-route.js';
import { comparePriceList, priceDifferences } from '../../providers/compare-price-list.js';
import { readRoutingOrder } from '../../providers/routing-order.js';
import { reconcileDay } from '../../reconciliation/reconcile-day.js';
import { dateOrders, type DateOrder } from '../../reconciliation/record/record-time.js';
import { defineConsoleOperation, requiredObject, reason, type Reason } from '../api/console-operation.js';
import { day } from '../api/list-query.js';
import { defineProviderOperation } from './define-provider-operation.js';
import { acceptDifferences } from '../../reconciliation/stored-reconciliations.js';

const nullable = Joi.number().allow(null);
/** Maximum number of differences shown. The command line writes all of them to a file. */
const shownMax = 500;
/**
 * Maximum number of sales in a business day that is reconciled here. The work shares a web process
 * with other requests.
 */
const salesMax = 20_000;
const recordBytesMax = 2_000_000;

export const getRouting = defineConsoleOperation({
  id: 'getRouting',
  method: 'get',
  path: '/routing',
  action: 'provider.look',
  summary: 'The order in which the sellers of a product would be tried now, and why a seller is skipped',
  query: Joi.object<{ product: string }>({ product: productCode.required() }),
  data: requiredObject({
    product: Joi.string(),
    closed: Joi.string().allow(null).description('Why the product is closed for all sellers.'),
    offers: Joi.array().items(
      requiredObject({
        seller: Joi.string(),
        price: Joi.number(),
        cost: nullable,
        circuit: Joi.string().valid('closed', 'half-open', 'open'),
        success_rate: Joi.number(),
        mean_ms: Joi.number(),
        obstacle: Joi.string()
          .valid(...obstacles, 'circuit-open')
          .allow(null),
        placed: Joi.string()
          .valid('first', ...rankCriteria, 'alike')
          .allow(null)
          .description('The criterion that ranks it behind the previous seller.'),
      }),
    ),
  }),
  async handle({ query }) {
    const { product, closed, offers } = await readRoutingOrder(query.product);
    return {
      product,
      closed,
      offers: offers.map(({ successRate, meanMs, ...each }) => ({
        ...each,
        success_rate: successRate,
        mean_ms: Math.round(meanMs),
      })),
    };
  },
});

export const comparePrices = defineProviderOperation({
  id: 'comparePrices',
  method: 'post',
  verb: 'prices',
  action: 'provider.reconcile',
  asks: true,
  summary: "Fetch a provider's price list and compare it with the seller's offers",
  body: Joi.object({}),
  data: requiredObject({
    offers: Joi.number(),
    listed: Joi.number(),
    found: Joi.number(),
    differences: Joi.array().items(
      requiredObject({
        product_code: Joi.string(),
        what: Joi.string().valid(...priceDifferences),
        price: Joi.number(),
        cost: nullable,
        their_cost: nullable,
      }),
    ),
  }),
  async run(seller) {
    const { offers, listed, differences } = await comparePriceList(seller);
    return {
      offers,
      listed,
      found: differences.length,
      differences: differences.slice(0, shownMax).map(({ productCode: code, theirCost, ...each }) => ({
        product_code: code,
        their_cost: theirCost,
        ...each,
      })),
    };
  },
});

interface ReconcileBody {
  date: string;
  /** The provider's record as CSV. If absent, the record is requested from the provider. */
  csv?: string;
  date_order?: DateOrder;
}

export const reconcileProviderDay = defineProviderOperation({
  id: 'reconcileProvider',
  method: 'post',
  verb: 'reconcile',
  action: 'provider.reconcile',
  asks: true,
  bodyBytesMax: 2 * recordBytesMax,
  summary:
    "Compare a provider's record of a business day with ours, from a file or fetched from the provider",
  body: Joi.object<ReconcileBody>({
    date: day.required(),
    csv: Joi.string().max(recordBytesMax),
    date_order: Joi.string()
      .valid(...dateOrders)
      .description(
        'Order of the dates in the file. Needed if the month comes first, or for two-digit years.',
      ),
  }),
  data: requiredObject({
    date: Joi.string(),
    ours: Joi.number(),
    theirs: Joi.number(),
    other_days: Joi.number().description('Rows of the record that belong to other days.'),
    matched: Joi.number(),
    found: Joi.number().description('Number of differences. The list may show fewer.'),
    differences: Joi.array().items(
      requiredObject({
        kind: Joi.string().valid('only-provider', 'only-ours', 'differs'),
        reference: Joi.string(),
        ours: Joi.string().allow(null),
        theirs: Joi.string().allow(null),
      }),
    ),
  }),
  async run(seller, { body: { date, csv, date_order: dateOrder }, by }) {
    const found = await reconcileDay(seller, { date, csv: csv ?? null, dateOrder, salesMax }, by);
    return {
      date: found.date,
      ours: found.ours,
      theirs: found.theirs,
      other_days: found.otherDays,
      matched: found.matched,
      found: found.differences.length,
      differences: found.differences
        .slice(0, shownMax)
        .map(({ kind, providerRef, ours, theirs }) => ({ kind, reference: providerRef, ours, theirs })),
    };
  },
});

interface Body extends Reason {
  date: string;
}

export const acceptDifferencesCall = defineProviderOperation({
  id: 'acceptDifferences',
  method: 'post',
  verb: 'accept',
  action: 'provider.accept',
  summary: 'Accept the differences of a day as explained, which ends their alarm',
  body: Joi.object<Body>({ date: day.required(), reason }),
  data: requiredObject({ date: Joi.string(), different: Joi.number() }),
  async run(seller, { body: { date }, by }) {
    const accepted = await acceptDifferences(seller, date, by);
    return { date: accepted.date, different: accepted.different };
  },
});
