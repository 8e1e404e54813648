import mongoose, { Schema } from 'mongoose';
import { Money } from '../../database/typed-collection.js';
import type { ProductStatus } from '../../products/product.model.js';

/**
 * `applying` and `undoing` imports are in progress or interrupted. Their rows contain the changes
 * written so far, which can be undone. An undo stops the rest of an import.
 */
export const priceImportStatuses = ['applying', 'applied', 'undoing', 'undone'] as const;
export type PriceImportStatus = (typeof priceImportStatuses)[number];

/** A price list that an operator applied. */
export interface PriceImport {
  _id: string;
  /** File name. */
  file: string;
  status: PriceImportStatus;
  /** Number of offers in the plan. */
  planned: number;
  /** Number of offers that the import changed. Another actor changed the others meanwhile. */
  changed: number;
  actor: string;
  reason: string | null;
  createdAt: Date;
  /**
   * The last undo. `kept` is the number of offers that it left because they have later changes.
   * Another call can undo those.
   */
  undone: { at: Date; actor: string; reason: string | null; kept: number } | null;
}

/** Fields of an offer that an import can set. */
export const offerFields = ['price', 'cost', 'status'] as const;
export type OfferField = (typeof offerFields)[number];

/**
 * Values that an import sets, with amounts in rupiah. In the offer of the product's owner, `status`
 * is the status of the product.
 */
export interface OfferFigures {
  price: number;
  cost: number | null;
  status: ProductStatus;
}

/** The change that an import made to one offer. */
export interface PriceImportRow {
  /** `<importId>:<productCode>:<sellerId>` */
  _id: string;
  importId: string;
  line: number;
  productCode: string;
  sellerId: string;
  /** The code at the provider to which the figures belong. */
  sku?: string;
  before: OfferFigures;
  after: OfferFigures;
  /** When the row was completely undone. Absent if it was not. */
  undoneAt?: Date;
  /** Fields that are already undone in a partially undone row. */
  undoneFields?: OfferField[];
}

const undoneSchema = new Schema({ at: Date, actor: String, reason: String, kept: Number }, { _id: false });
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
    undone: { type: undoneSchema, default: null },
  },
  { collection: 'priceImports', versionKey: false },
);

const figuresSchema = new Schema<OfferFigures>(
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
    sku: { type: String },
    before: { type: figuresSchema, required: true },
    after: { type: figuresSchema, required: true },
    undoneAt: { type: Date },
    undoneFields: { type: [String], default: undefined },
  },
  { collection: 'priceImportRows', versionKey: false },
);
rowSchema.index({ importId: 1, line: 1 }, { name: 'import_line' });

export const PriceImportModel = mongoose.model('PriceImport', schema);
export const PriceImportRowModel = mongoose.model('PriceImportRow', rowSchema);
