import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { lineRefusals, readPriceFile } from '../../providers/imports/read-price-file.js';
import {
  sortByImportance,
  type ImportPlan,
  type ConfirmReason,
  type PlannedChange,
  planImport,
} from '../../providers/imports/plan-import.js';
import {
  requiredObject,
  defineConsoleOperation,
  idParams,
  reason,
  reasonBody,
  type Reason,
} from '../api/console-operation.js';
import { text, nameSchema } from '../../api/contract/fields.js';
import { applyImport } from '../../providers/imports/apply-import.js';
import { offerFields } from '../../providers/imports/price-import.model.js';
import { undoImport } from '../../providers/imports/undo-import.js';

/** Maximum number of rows shown per list. Counts cover all rows. */
export const shownMax = 200;

/** Maximum length of a price file in base64. */
const base64Max = Math.ceil(limits.priceFileBytesMax / 3) * 4;
export const priceFile = Joi.string()
  .max(base64Max)
  .required()
  .description('A price list (CSV in UTF-8, or a workbook) in base64.');
export const priceFileBodyMax = base64Max + 10_000;

export function decodeBase64(base64: string): Uint8Array {
  return Buffer.from(base64, 'base64');
}

const nullable = Joi.number().allow(null);
const status = Joi.string().valid('active', 'inactive', 'maintenance');
const figures = requiredObject({ price: Joi.number(), cost: nullable, status });

export const planData = nameSchema(
  'PriceImportPlan',
  requiredObject({
    lines: Joi.number(),
    found: Joi.number().description('Number of offers that it changes. `changes` may show fewer.'),
    losing: Joi.number().description('Of these, offers at which each sale would lose money.'),
    falling: Joi.number().description('Of these, offers whose price falls by more than half.'),
    rising: Joi.number().description('Of these, offers whose price rises to five times or more.'),
    unchanged: Joi.number(),
    changes: Joi.array()
      .items(
        requiredObject({
          line: Joi.number(),
          code: Joi.string(),
          seller: Joi.string(),
          before: figures,
          after: figures,
          margin: nullable.description('What the seller has left then; null if the cost is unknown.'),
          loses: Joi.boolean(),
          falls: Joi.boolean(),
          rises: Joi.boolean(),
        }),
      )
      .description('Changes that need confirmation first, the largest falls and rises at the top.'),
    refused_found: Joi.number(),
    refused: Joi.array().items(
      requiredObject({ line: Joi.number(), why: Joi.string().valid(...lineRefusals) }),
    ),
    fingerprint: Joi.string().description('Hash of all changes. Pass it to apply exactly these.'),
  }),
);

export function presentPlan({ lines, changes, unchanged, refused, fingerprint }: ImportPlan) {
  const countOf = (why: ConfirmReason) => changes.filter((each) => each[why]).length;
  return {
    lines,
    found: changes.length,
    unchanged,
    losing: countOf('loses'),
    falling: countOf('falls'),
    rising: countOf('rises'),
    changes: sortByImportance(changes).slice(0, shownMax).map(presentChange),
    refused_found: refused.length,
    refused: refused.slice(0, shownMax),
    fingerprint,
  };
}

function presentChange({ line, code, seller, before, after, margin, loses, falls, rises }: PlannedChange) {
  return { line, code, seller, before, after, margin, loses, falls, rises };
}

export const previewPriceImport = defineConsoleOperation<{ file: string }>({
  id: 'previewPriceImport',
  method: 'post',
  path: '/price-imports/preview',
  // Not `product.look`, which every role has: parsing an uploaded file is expensive.
  action: 'price-import.look',
  asks: true,
  bodyBytesMax: priceFileBodyMax,
  summary: 'Preview a price list: its changes, lines that lose money, and refused lines with the reason',
  body: Joi.object<{ file: string }>({ file: priceFile }),
  data: planData,
  handle: async ({ body: { file } }) =>
    presentPlan(await planImport(await readPriceFile(decodeBase64(file)))),
});

interface ApplyBody extends Reason {
  file: string;
  name: string;
  fingerprint: string;
  meant: boolean;
}

/** Offers that somebody else has changed since the preview. */
const keptData = Joi.array().items(requiredObject({ line: Joi.number(), code: Joi.string() }));

export const applyPriceImport = defineConsoleOperation<ApplyBody>({
  id: 'applyPriceImport',
  method: 'post',
  path: '/price-imports',
  action: 'product.set',
  bodyBytesMax: priceFileBodyMax,
  summary: 'Apply a previewed price list; refused lines are skipped',
  body: Joi.object<ApplyBody>({
    file: priceFile,
    name: text(200).required(),
    fingerprint: text(64).required(),
    meant: Joi.boolean()
      .default(false)
      .description(
        'Also apply changes that lose money, and prices that fall by more than half or rise fivefold.',
      ),
    reason,
  }),
  data: requiredObject({ id: Joi.string(), changed: Joi.number(), kept_found: Joi.number(), kept: keptData }),
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
  summary: 'Undo an import, except values that were changed since; these can be undone by another call',
  params: idParams,
  body: reasonBody,
  data: requiredObject({
    undone: Joi.number(),
    kept_found: Joi.number(),
    kept: Joi.array().items(
      requiredObject({
        line: Joi.number(),
        code: Joi.string(),
        fields: Joi.array()
          .items(Joi.string().valid(...offerFields))
          .description('Fields of the offer that were changed since and are kept.'),
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
