import Joi from 'joi';
import { text } from '../../api/fields.js';
import { applyImport } from '../../providers/imports/apply-import.js';
import { planImport } from '../../providers/imports/plan-import.js';
import { offerFields } from '../../providers/imports/price-import.model.js';
import { readPriceFile } from '../../providers/imports/read-price-file.js';
import { undoImport } from '../../providers/imports/undo-import.js';
import {
  defineConsoleOperation,
  idParams,
  reason,
  reasonBody,
  shape,
  type Reason,
} from '../api/console-operation.js';
import {
  decodeBase64,
  planData,
  presentPlan,
  priceFile,
  priceFileBodyMax,
  shownMax,
} from './price-import-data.js';

export const previewPriceImport = defineConsoleOperation<{ file: string }>({
  id: 'previewPriceImport',
  method: 'post',
  path: '/price-imports/preview',
  // Not `product.look`, which everybody has: what somebody sends costs work to read.
  action: 'price-import.look',
  asks: true,
  bodyBytesMax: priceFileBodyMax,
  summary: 'What a price list would change: from and to, which lines lose money, which are refused and why',
  body: Joi.object<{ file: string }>({ file: priceFile }),
  data: planData,
  handle: async ({ body: { file } }) =>
    presentPlan(await planImport(await readPriceFile(decodeBase64(file)))),
});

interface Apply extends Reason {
  file: string;
  name: string;
  fingerprint: string;
  meant: boolean;
}

/** Offers that somebody else has changed meanwhile. */
const keptData = Joi.array().items(shape({ line: Joi.number(), code: Joi.string() }));

export const applyPriceImport = defineConsoleOperation<Apply>({
  id: 'applyPriceImport',
  method: 'post',
  path: '/price-imports',
  action: 'product.set',
  bodyBytesMax: priceFileBodyMax,
  summary: 'Apply a price list as it was previewed; lines that are refused are left out',
  body: Joi.object<Apply>({
    file: priceFile,
    name: text(200).required(),
    fingerprint: text(64).required(),
    meant: Joi.boolean()
      .default(false)
      .description(
        'Also what loses money, and prices that fall by more than half or rise to five times or more.',
      ),
    reason,
  }),
  data: shape({ id: Joi.string(), changed: Joi.number(), kept_found: Joi.number(), kept: keptData }),
  async handle({ body: { file, name, fingerprint, meant }, by }) {
    const { importId, changed, kept } = await applyImport(
      { bytes: decodeBase64(file), file: name, fingerprint, meant },
      by,
    );
    return {
      id: importId,
      changed,
      kept_found: kept.length,
      kept: kept.slice(0, shownMax).map(({ line, code }) => ({ line, code })),
    };
  },
});

export const undoPriceImport = defineConsoleOperation<Reason, { id: string }>({
  id: 'undoPriceImport',
  method: 'post',
  path: '/price-imports/:id/undo',
  action: 'product.set',
  summary: 'Take back what an import has written, but for what was changed since; that can be undone again',
  params: idParams,
  body: reasonBody,
  data: shape({
    undone: Joi.number(),
    kept_found: Joi.number(),
    kept: Joi.array().items(
      shape({
        line: Joi.number(),
        code: Joi.string(),
        fields: Joi.array()
          .items(Joi.string().valid(...offerFields))
          .description('What of the offer was changed since, and stays.'),
      }),
    ),
  }),
  async handle({ params: { id }, by }) {
    const { undone, kept } = await undoImport(id, by);
    return {
      undone,
      kept_found: kept.length,
      kept: kept
        .slice(0, shownMax)
        .map(({ line, productCode, fields }) => ({ line, code: productCode, fields })),
    };
  },
});
