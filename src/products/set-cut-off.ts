import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { inTransaction } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/changing.js';
import { NotFoundError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { ProductModel, type Product } from './product.model.js';

/**
 * The daily window in which nobody sells a product, in business time; it may pass midnight. Null: none. Beside it each
 * offer has that of its provider's price list, which no operator sets. Purchases that were accepted go on.
 * @throws NotFoundError for a product that does not exist.
 */
export async function setCutOff(
  { code, cutOff }: { code: string; cutOff: Product['cutOff'] },
  by: ChangedBy,
): Promise<void> {
  await writeAndInvalidate([ProductModel], [code], (products) =>
    inTransaction(async (session) => {
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
