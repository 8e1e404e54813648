import { toInt64 } from '../../database/typed-collection.js';
import { ConflictError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { deposits } from '../deposit.model.js';
import { BankLineModel, type BankLine } from './bank-line.model.js';
import { choicesMax, type Choice } from './choose-deposit.js';
import { requireLine } from './decide-line.js';

const idPattern = /^[0-9a-f]{32}$/;
/** Shortest end of an id that identifies a line. */
const endLengthMin = 6;

/**
 * Returns the id of a line that is named by its id, or by the last characters of it.
 * @throws ConflictError if no open or used line, or more than one, ends so.
 */
export async function resolveLine(named: string): Promise<string> {
  if (idPattern.test(named) || !/^[0-9a-f]+$/.test(named) || named.length < endLengthMin) {
    return named;
  }
  const found = await BankLineModel.find({
    status: { $in: ['open', 'used'] },
    _id: { $regex: `${named}$` },
  })
    .limit(2)
    .lean<BankLine[]>();
  const [one, other] = found;
  if (other) {
    throw new ConflictError(asWritten(`Several bank lines end in ${named}. Write more of the id.`));
  }
  return one?._id ?? named;
}

/**
 * Returns the id of a deposit that is named by its id, or by the `ref_id` of its client. Clients choose
 * their references, so a reference counts only if one deposit of the line's amount has it.
 * @throws ConflictError if several accounts have such a deposit.
 */
export async function resolveChoice(lineId: string, named: string): Promise<string> {
  const line = await requireLine(lineId);
  if (idPattern.test(named) || (await deposits.countDocuments({ _id: named })) > 0) {
    return named;
  }
  if (line.depositId !== null && (await deposits.findOne({ _id: line.depositId }))?.refId === named) {
    return line.depositId;
  }
  const found = await deposits
    .find({ status: 'pending', amount: toInt64(line.amount), refId: named })
    .project<Choice>({ accountId: 1, refId: 1, createdAt: 1 })
    .limit(choicesMax)
    .toArray();
  const [one, other] = found;
  if (other) {
    const ids = found.map(({ _id }) => _id).join(', ');
    throw new ConflictError(
      asWritten(`Several pending deposits of this amount have the ref_id ${named}. Name one by id: ${ids}`),
    );
  }
  return one?._id ?? named;
}
