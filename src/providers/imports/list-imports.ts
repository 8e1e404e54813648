import { PriceImportModel, type PriceImport } from './price-import.model.js';

/** Imports of price lists, the newest first. @param query.after The id of the last one seen. */
export async function listImports(query: {
  after?: string | undefined;
  limit: number;
}): Promise<{ imports: PriceImport[]; next: string | null }> {
  const { after, limit } = query;
  // Ids begin with the time of their making.
  const found = await PriceImportModel.find(after === undefined ? {} : { _id: { $lt: after } })
    .sort({ _id: -1 })
    .limit(limit + 1)
    .lean<PriceImport[]>();
  const imports = found.slice(0, limit);
  return { imports, next: found.length > limit ? (imports.at(-1)?._id ?? null) : null };
}
