import Joi from 'joi';
import { requireAccount } from '../../accounts/find-account.js';
import { text, timestamp, wholeNumber, nameSchema } from '../../api/contract/fields.js';
import { listImports, readOfferChanges, readOfferHistory } from '../../providers/imports/import-history.js';
import { priceImportStatuses, type OfferFigures } from '../../providers/imports/price-import.model.js';
import { getStartOfDay, getStartOfYesterday } from '../../shared/business-time.js';
import { defineConsoleOperation, requiredObject } from '../api/console-operation.js';
import { day } from '../api/list-query.js';
import { codeParams } from '../products/products.js';

interface Query {
  after?: string;
  limit: number;
}

const nullableText = Joi.string().allow(null);
const nullable = Joi.number().allow(null);

export const listPriceImports = defineConsoleOperation({
  id: 'listPriceImports',
  method: 'get',
  path: '/price-imports',
  action: 'product.look',
  summary: 'Imported price lists, newest first, a page at a time',
  query: Joi.object<Query>({ after: text(64), limit: wholeNumber({ max: 100, standard: 20 }) }),
  data: requiredObject({
    imports: Joi.array().items(
      nameSchema(
        'PriceImport',
        requiredObject({
          id: Joi.string(),
          file: Joi.string(),
          status: Joi.string().valid(...priceImportStatuses),
          planned: Joi.number(),
          changed: Joi.number(),
          actor: Joi.string(),
          reason: nullableText,
          at: timestamp,
          undone: requiredObject({
            at: timestamp,
            actor: Joi.string(),
            reason: nullableText,
            kept: Joi.number(),
          }).allow(null),
        }),
      ),
    ),
    next: nullableText.description('Value of `after` for the next page.'),
  }),
  async handle({ query }) {
    const { imports, next } = await listImports(query);
    return {
      imports: imports.map(({ _id, file, status, planned, changed, actor, reason, createdAt, undone }) => ({
        id: _id,
        file,
        status,
        planned,
        changed,
        actor,
        reason,
        at: createdAt.toISOString(),
        undone: undone && { ...undone, at: undone.at.toISOString() },
      })),
      next,
    };
  },
});

interface ChangesQuery {
  seller?: string;
  from?: string;
  before?: string;
  limit: number;
}

const changedFigures = {
  price: nullable.description('Null if it did not change, as for the other fields.'),
  cost: nullable,
  status: Joi.string().valid('active', 'inactive', 'maintenance').allow(null),
};
const figures = requiredObject(changedFigures);

export const listOfferChanges = defineConsoleOperation({
  id: 'listOfferChanges',
  method: 'get',
  path: '/price-changes',
  action: 'product.look',
  summary: 'Changes of prices, costs and status of offers since yesterday or a given day, newest first',
  query: Joi.object<ChangesQuery>({
    seller: text(64),
    from: day,
    before: Joi.string().max(40).isoDate(),
    limit: wholeNumber({ max: 100, standard: 50 }),
  }),
  data: requiredObject({
    since: timestamp,
    changes: Joi.array().items(
      nameSchema(
        'OfferChange',
        requiredObject({
          at: timestamp,
          actor: Joi.string(),
          reason: nullableText,
          code: Joi.string(),
          seller: Joi.string(),
          was: figures,
          is: figures,
        }),
      ),
    ),
    next: timestamp.allow(null).description('Value of `before` for the next page.'),
    looked_back_to: timestamp.allow(null).description('Start of the searched time, if the page is not full.'),
  }),
  async handle({ query: { seller, from, before, limit } }) {
    const since = from === undefined ? getStartOfYesterday() : getStartOfDay(from);
    const sellerId = seller === undefined ? undefined : (await requireAccount(seller))._id;
    const { changes, next, searchedBackTo } = await readOfferChanges(
      { since, sellerId },
      { before: before === undefined ? undefined : new Date(before), limit },
    );
    return {
      since: since.toISOString(),
      changes: changes.map(({ at, was, is, ...rest }) => ({
        ...rest,
        at: at.toISOString(),
        was: presentFigures(was),
        is: presentFigures(is),
      })),
      next: next?.toISOString() ?? null,
      looked_back_to: searchedBackTo?.toISOString() ?? null,
    };
  },
});

function presentFigures({ price, cost, status }: Partial<OfferFigures>) {
  return { price: price ?? null, cost: cost ?? null, status: status ?? null };
}

interface HistoryQuery {
  seller: string;
  before?: string;
  limit: number;
}

export const getOfferHistory = defineConsoleOperation({
  id: 'getOfferHistory',
  method: 'get',
  path: '/products/:code/history',
  action: 'product.look',
  summary: "Changes of a seller's price, cost and status for a product, newest first",
  params: codeParams,
  query: Joi.object<HistoryQuery>({
    seller: text(64).required(),
    before: Joi.string().max(40).isoDate(),
    limit: wholeNumber({ max: 100, standard: 20 }),
  }),
  data: requiredObject({
    moments: Joi.array().items(
      requiredObject({
        at: timestamp,
        actor: Joi.string(),
        reason: nullableText,
        ...changedFigures,
        import_id: nullableText,
      }),
    ),
    next: timestamp.allow(null).description('Value of `before` for the next page.'),
  }),
  async handle({ params: { code }, query: { seller, before, limit } }) {
    const { _id: sellerId } = await requireAccount(seller);
    const { moments, next } = await readOfferHistory(
      { code, sellerId },
      { before: before === undefined ? undefined : new Date(before), limit },
    );
    return {
      moments: moments.map(({ at, actor, reason, importId, ...changed }) => ({
        at: at.toISOString(),
        actor,
        reason,
        import_id: importId,
        ...presentFigures(changed),
      })),
      next: next?.toISOString() ?? null,
    };
  },
});
