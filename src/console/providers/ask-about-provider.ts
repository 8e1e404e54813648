import Joi from 'joi';
import { productCode } from '../../api/fields.js';
import { obstacles, placings } from '../../providers/choose-route.js';
import { comparePriceList, priceDifferences } from '../../providers/compare-price-list.js';
import { routingOrder } from '../../providers/routing-order.js';
import { reconcileDay } from '../../reconciliation/reconcile-day.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';
import { day } from '../api/list-query.js';
import { defineProviderOperation } from './provider-operation.js';

const nullable = Joi.number().allow(null);
/** More are no list for a person; the command line writes all of them to a file. */
const shownMax = 500;
/** Of a business day, in the process that answers others meanwhile. */
const salesMax = 20_000;
const recordBytesMax = 2_000_000;

export const getRouting = defineConsoleOperation({
  id: 'getRouting',
  method: 'get',
  path: '/routing',
  action: 'provider.look',
  summary: 'In which order the sellers of a product would be asked now, and what keeps each from it',
  query: Joi.object<{ product: string }>({ product: productCode.required() }),
  data: shape({
    product: Joi.string(),
    closed: Joi.string().allow(null).description('What closes it, whoever would serve it.'),
    offers: Joi.array().items(
      shape({
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
          .valid('first', ...placings, 'alike')
          .allow(null)
          .description('What puts it behind the one before it.'),
      }),
    ),
  }),
  async handle({ query }) {
    const { product, closed, offers } = await routingOrder(query.product);
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
  summary: "Hold a provider's price list, asked for now, against the seller's offers",
  body: Joi.object({}),
  data: shape({
    offers: Joi.number(),
    listed: Joi.number(),
    found: Joi.number(),
    differences: Joi.array().items(
      shape({
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

interface Reconciled {
  date: string;
  /** Left out: the provider is asked for its record. */
  csv?: string;
}

export const reconcileProviderDay = defineProviderOperation({
  id: 'reconcileProvider',
  method: 'post',
  verb: 'reconcile',
  action: 'provider.reconcile',
  asks: true,
  bodyBytesMax: 2 * recordBytesMax,
  summary:
    "Hold a provider's record of a business day against ours: the file that is sent, or what the provider tells",
  body: Joi.object<Reconciled>({
    date: day.required(),
    csv: Joi.string().max(recordBytesMax),
  }),
  data: shape({
    date: Joi.string(),
    ours: Joi.number(),
    theirs: Joi.number(),
    matched: Joi.number(),
    found: Joi.number().description('Differences, of which so many are shown.'),
    differences: Joi.array().items(
      shape({
        kind: Joi.string().valid('only-provider', 'only-ours', 'differs'),
        reference: Joi.string(),
        ours: Joi.string().allow(null),
        theirs: Joi.string().allow(null),
      }),
    ),
  }),
  async run(seller, { body: { date, csv }, by }) {
    const found = await reconcileDay(seller, { date, csv: csv ?? null, salesMax }, by);
    return {
      date: found.date,
      ours: found.ours,
      theirs: found.theirs,
      matched: found.matched,
      found: found.differences.length,
      differences: found.differences
        .slice(0, shownMax)
        .map(({ kind, providerRef, ours, theirs }) => ({ kind, reference: providerRef, ours, theirs })),
    };
  },
});
