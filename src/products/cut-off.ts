import { DateTime } from 'luxon';
import { env } from '../../config/env.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { runInTransaction } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/publish-changes.js';
import { NotFoundError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { ProductModel, type Product } from './product.model.js';

/** A daily window without sales, in business time HH:MM. The window may span midnight. */
export interface CutOff {
  start: string;
  end: string;
}

/**
 * True within the window. The start is inclusive, the end exclusive. If they are equal, there is no
 * window.
 */
export function isInCutOff(cutOff: CutOff | null | undefined, at: Date): boolean {
  if (!cutOff) {
    return false;
  }
  const start = parseMinuteOfDay(cutOff.start);
  const end = parseMinuteOfDay(cutOff.end);
  if (start === null || end === null || start === end) {
    return false;
  }
  const local = DateTime.fromJSDate(at, { zone: env.BUSINESS_TIMEZONE });
  const minute = local.hour * 60 + local.minute;
  return start < end ? minute >= start && minute < end : minute >= start || minute < end;
}

/**
 * Returns the minute of the day, or null if the text is not a time. Providers write `0:0` as well
 * as `00:00`.
 */
export function parseMinuteOfDay(time: string): number | null {
  const match = /^(\d{1,2}):(\d{1,2})$/.exec(time);
  const [hour, minute] = [Number(match?.[1]), Number(match?.[2])];
  return match && hour < 24 && minute < 60 ? hour * 60 + minute : null;
}

/**
 * Sets the daily window in which a product is not sold. Null removes the window. Each offer has a
 * separate window from its provider's price list. Accepted purchases continue.
 * @throws NotFoundError if the product does not exist.
 */
export async function setCutOff(
  { code, cutOff }: { code: string; cutOff: Product['cutOff'] },
  by: ChangedBy,
): Promise<void> {
  await writeAndInvalidate([ProductModel], [code], (products) =>
    runInTransaction(async (session) => {
      const product = await products
        .findOneAndUpdate({ _id: code }, { $set: { cutOff } }, { session, returnDocument: 'before' })
        .lean<Product>();
      if (!product) {
        throw new NotFoundError(asWritten(`There is no product ${code}`));
      }
      const isSame = product.cutOff?.start === cutOff?.start && product.cutOff?.end === cutOff?.end;
      if (!isSame) {
        await recordAudit(session, {
          ...by,
          action: 'product.cut-off',
          subject: { kind: 'product', id: code },
          before: { cutOff: product.cutOff },
          after: { cutOff },
        });
      }
    }),
  );
}
