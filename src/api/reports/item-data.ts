import Joi from 'joi';
import type { Cells, Columns } from '../../reports/report-columns.js';
import { timestamp } from '../fields.js';

const rupiah = Joi.number().integer();

const cells: Record<keyof Cells, Joi.Schema> = {
  text: Joi.string(),
  textOrNull: Joi.string().allow(null),
  rupiah,
  rupiahOrNull: rupiah.allow(null),
  transactionStatus: Joi.string().valid('pending', 'processing', 'success', 'failed'),
  depositStatus: Joi.string().valid('pending', 'completed', 'rejected'),
  time: timestamp,
};

/** An item of a report or history, made from the columns that its rows are written by. */
export function itemData(columns: Columns): Joi.ObjectSchema {
  return Joi.object(
    Object.fromEntries(
      Object.entries(columns).map(([name, { kind, description }]) => {
        const cell = cells[kind].required();
        return [name, description === undefined ? cell : cell.description(description)];
      }),
    ),
  );
}
