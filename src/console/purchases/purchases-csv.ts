import Joi from 'joi';
import { findUsernames } from '../../accounts/find-account.js';
import { getPartyIds, findPurchasePage } from '../../purchases/operator-list.js';
import { parseConsoleQuery, buildOperatorChangedBy, type ConsoleRoute } from '../console-route.js';
import { sendListCsv } from '../send-list-csv.js';
import { presentPurchase, purchaseFields } from './present-purchase.js';
import { purchaseFilterFields, buildPurchaseFilter, type PurchaseFilterQuery } from './list-purchases.js';

const csvQuery = Joi.object<PurchaseFilterQuery>(purchaseFilterFields);

/** Streams the purchases that fit a filter as CSV. */
export const sendPurchasesCsv: ConsoleRoute['handle'] = async (request, response) => {
  const query = parseConsoleQuery(csvQuery, request);
  const filter = await buildPurchaseFilter(query);
  await sendListCsv<string>(response, {
    filename: 'purchases.csv',
    columns: purchaseFields,
    // `csv-excel` keeps customer numbers and tokens as text when Excel opens the file.
    format: 'csv-excel',
    exported: {
      by: buildOperatorChangedBy(request, response),
      action: 'purchase.export',
      kind: 'transaction',
      filter: query,
    },
    async page({ after, limit }) {
      const { purchases, next } = await findPurchasePage(filter, { after, limit });
      const usernames = await findUsernames(getPartyIds(purchases));
      return { rows: purchases.map((each) => presentPurchase(each, usernames)), next };
    },
  });
};
