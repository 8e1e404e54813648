import Joi from 'joi';
import { timestamp } from '../../api/contract/fields.js';
import { countAttention, countBacklog, listFailingJobs, type Attention } from '../../doctor/attention.js';
import { sumOpenPurchases } from '../../purchases/purchase-figures.js';
import { stepData } from '../providers/get-provider.js';
import { defineConsoleOperation, requiredObject } from '../api/console-operation.js';
import { getTodayFigures } from './today-figures.js';

const rowsShown = 20;
/** Work that has been due for longer than this is late. */
const lateMs = 60_000;

const attentionKinds = [
  'openCases',
  'reviews',
  'deadDeliveries',
  'disabledWebhooks',
  'pendingDeposits',
  'settlements',
  'adjustments',
  'failedReports',
  'failingJobs',
] as const satisfies readonly (keyof Attention)[];

const count = Joi.number();
const figures = requiredObject({
  purchases: count,
  success: count,
  failed: count,
  refunded: count,
  open: count,
  success_rate: Joi.number().allow(null),
  sales: count.description('Rupiah: prices of purchases that succeeded and were not reversed.'),
  commission: count.description('Rupiah of the sales that the platform keeps.'),
});
const quantiles = { ended: count, median_s: Joi.number().allow(null), p95_s: Joi.number().allow(null) };

export const getToday = defineConsoleOperation({
  id: 'getToday',
  method: 'get',
  path: '/today',
  action: 'console.start',
  summary: 'Work that needs an operator, and figures and plots of today and yesterday',
  data: requiredObject({
    at: timestamp,
    day: Joi.string(),
    is_whole: Joi.boolean().description(
      'False: the figures are incomplete, because totals are still being built or there is too much data.',
    ),
    attention: Joi.array().items(requiredObject({ kind: Joi.string().valid(...attentionKinds), count })),
    late: count.description('Number of tasks that are over a minute late.'),
    today: figures,
    yesterday: figures,
    suspense: requiredObject({
      amount: count,
      purchases: count,
      is_cut: Joi.boolean(),
      closed: requiredObject({ day: Joi.string(), amount: count })
        .allow(null)
        .description('At the end of the last closed day.'),
    }),
    latency: requiredObject({
      ...quantiles,
      before: requiredObject(quantiles).description('Of the 24 hours before these.'),
    }),
    hours: Joi.array().items(
      requiredObject({
        from: timestamp,
        success: count,
        failed: count,
        refunded: count,
        open: count,
        latency: requiredObject(quantiles),
      }),
    ),
    days: Joi.array()
      .items(figures.keys({ day: Joi.string().required() }))
      .description('Older days leave out purchases for which no seller was tried.'),
    providers: Joi.array().items(figures.keys({ seller: Joi.string().required() })),
    plotted: Joi.array()
      .items(requiredObject({ seller: Joi.string(), steps: Joi.array().items(stepData) }))
      .description('Per hour, of the providers with the most orders.'),
    deliveries: Joi.array().items(requiredObject({ from: timestamp, delivered: count, failed: count })),
    failing_jobs: Joi.array().items(
      requiredObject({ id: Joi.string(), reason: Joi.string(), since: timestamp.allow(null) }),
    ),
  }),
  async handle() {
    const [{ suspense_closed: closed, ...found }, attention, backlog, open, failing] = await Promise.all([
      getTodayFigures(),
      countAttention(),
      countBacklog(lateMs),
      sumOpenPurchases(),
      listFailingJobs(rowsShown),
    ]);
    return {
      ...found,
      attention: attentionKinds.map((kind) => ({ kind, count: attention[kind] })),
      late: backlog.purchases + backlog.deliveries + backlog.postings,
      suspense: { amount: open.suspense, purchases: open.count, is_cut: open.isCut, closed },
      failing_jobs: failing.map(({ _id, reason, needsPersonSince }) => ({
        id: _id,
        reason,
        since: needsPersonSince?.toISOString() ?? null,
      })),
    };
  },
});
