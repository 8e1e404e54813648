import Joi from 'joi';

/** Not `10.000`, which may mean ten thousand. */
const decimalPattern = /^-?\d{1,15}(?:\.\d{1,2})?$/;

/**
 * Rupiah outside a purchase, as a number or as text, with or without decimals.
 * @param round Down for our balance, up for a cost, so that the error is never in our favour.
 */
export function buildRupiahSchema(round: (value: number) => number, min: number): Joi.Schema<number> {
  return Joi.any().custom((value: unknown) => {
    if (typeof value !== 'number' && !(typeof value === 'string' && decimalPattern.test(value.trim()))) {
      throw new Error('not an amount');
    }
    const amount = round(Number(value));
    if (!Number.isSafeInteger(amount) || amount < min) {
      throw new Error('not an amount');
    }
    return amount;
  });
}
