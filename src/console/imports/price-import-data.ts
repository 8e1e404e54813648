import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { lineRefusals } from '../../providers/imports/read-price-file.js';
import {
  sortByImportance,
  type ImportPlan,
  type ConfirmReason,
  type PlannedChange,
} from '../../providers/imports/plan-import.js';
import { shape } from '../api/console-operation.js';

/** Of each list so many are shown; the numbers are of all. */
export const shownMax = 200;

/** A file in base64. */
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
const figures = shape({ price: Joi.number(), cost: nullable, status });

export const planData = shape({
  lines: Joi.number(),
  found: Joi.number().description('Offers that it changes, of which so many are shown.'),
  losing: Joi.number().description('Of these: at which each sale would lose money.'),
  falling: Joi.number().description('Of these: at which the price falls by more than half.'),
  rising: Joi.number().description('Of these: at which the price rises to five times or more.'),
  unchanged: Joi.number(),
  changes: Joi.array()
    .items(
      shape({
        line: Joi.number(),
        code: Joi.string(),
        seller: Joi.string(),
        before: figures,
        after: figures,
        margin: nullable.description('What the seller has left then; null where the cost is not known.'),
        loses: Joi.boolean(),
        falls: Joi.boolean(),
        rises: Joi.boolean(),
      }),
    )
    .description('What must be meant first, and of that what falls or rises most.'),
  refused_found: Joi.number(),
  refused: Joi.array().items(shape({ line: Joi.number(), why: Joi.string().valid(...lineRefusals) })),
  fingerprint: Joi.string().description('Of all changes: apply what was looked at, or nothing.'),
});

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
