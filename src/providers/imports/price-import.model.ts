import mongoose, { Schema } from 'mongoose';
import { Money } from '../../database/typed-collection.js';
import type { ProductStatus } from '../../products/product.model.js';

/**
 * applying, undoing: being written, or broken off; what it has written is in its rows, and can be taken back. Nothing is applied
 * any more once it is being undone.
 */
export const priceImportStatuses = ['applying', 'applied', 'undoing', 'undone'] as const;
export type PriceImportStatus = (typeof priceImportStatuses)[number];

/** A price list that an operator has applied: one for all of its lines. */
export interface PriceImport {
  _id: string;
  /** Name of the file. */
  file: string;
  status: PriceImportStatus;
  /** Offers that it was to change, and that it has changed; the others were changed by somebody else meanwhile. */
  planned: number;
  changed: number;
  actor: string;
  reason: string | null;
  createdAt: Date;
  /** Who took it back last; and of how many offers a part stayed, which had been changed since: that can be undone again. */
  undone: { at: Date; actor: string; reason: string | null; kept: number } | null;
}

/** What an import can set of an offer. */
export const offerFields = ['price', 'cost', 'status'] as const;
export type OfferField = (typeof offerFields)[number];

/** What an import sets of an offer. Rupiah; of the owner's offer the status is that of the product. */
export interface OfferFigures {
  price: number;
  cost: number | null;
  status: ProductStatus;
}

/** What an import has changed of one offer. */
export interface PriceImportRow {
  /** Import, product and seller. */
  _id: string;
  importId: string;
  line: number;
  productCode: string;
  sellerId: string;
  before: OfferFigures;
  after: OfferFigures;
  /** It was taken back, once for all. Absent: it was not. */
  undoneAt?: Date;
  /** What of one that was taken back in part is done. */
  undoneFields?: OfferField[];
}

const undone = new Schema({ at: Date, actor: String, reason: String, kept: Number }, { _id: false });
const schema = new Schema<PriceImport>(
  {
    _id: { type: String, required: true },
    file: { type: String, required: true },
    status: { type: String, required: true },
    planned: { type: Number, required: true },
    changed: { type: Number, required: true },
    actor: { type: String, required: true },
    reason: { type: String, default: null },
    createdAt: { type: Date, required: true },
    undone: { type: undone, default: null },
  },
  { collection: 'priceImports', versionKey: false },
);

const figures = new Schema<OfferFigures>(
  { price: Money, cost: { type: Money, default: null }, status: String },
  { _id: false },
);
const rowSchema = new Schema<PriceImportRow>(
  {
    _id: { type: String, required: true },
    importId: { type: String, required: true },
    line: { type: Number, required: true },
    productCode: { type: String, required: true },
    sellerId: { type: String, required: true },
    before: { type: figures, required: true },
    after: { type: figures, required: true },
    undoneAt: { type: Date },
    undoneFields: { type: [String], default: undefined },
  },
  { collection: 'priceImportRows', versionKey: false },
);
rowSchema.index({ importId: 1, line: 1 }, { name: 'import_line' });

export const PriceImportModel = mongoose.model('PriceImport', schema);
export const PriceImportRowModel = mongoose.model('PriceImportRow', rowSchema);
