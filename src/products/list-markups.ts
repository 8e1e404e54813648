import { getMarkupIdRange, MarkupModel, type Markup, type MarkupOwner } from './markup.model.js';

/**
 * A page of the rules by what they are for: those for all buyers first, then group by group, then account by account.
 * @param query.owner Those of this one alone. @param query.after The id of the last one seen.
 */
export async function listMarkups(query: {
  owner?: MarkupOwner | undefined;
  after?: string | undefined;
  limit: number;
}): Promise<{ markups: Markup[]; next: string | null }> {
  const { owner, after = '', limit } = query;
  // Along the ids alone: of an owner that has few, the rules of all the others are not read.
  const ids = owner === undefined ? null : getMarkupIdRange(owner);
  const found = await MarkupModel.find({
    _id: { $gt: ids && ids.from > after ? ids.from : after, ...(ids && { $lt: ids.to }) },
  })
    .sort({ _id: 1 })
    .limit(limit + 1)
    .lean<Markup[]>();
  const markups = found.slice(0, limit);
  const last = markups.at(-1);
  return { markups, next: found.length > limit && last ? last._id : null };
}
