/** Free text with invisible characters is refused on every surface. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type Joi from 'joi';
import { operations, resellerOperations } from '../../../src/api/operations.js';
import { validate } from '../../../src/api/contract/validate.js';
import { consoleOperations } from '../../../src/console/api/operations.js';
import { readBankStatement } from '../../../src/deposits/bank/read-bank-statement.js';
import { ValidationError, type FieldError } from '../../../src/shared/errors.js';
import { toPrintable } from '../../../src/shared/printable.js';
import { findReasonProblem } from '../../../src/shared/input-rules.js';
import { statementOf } from '../../deposits/bank/statement.js';

const invisibleCharacters = {
  'right-to-left override': '\u202e',
  isolate: '\u2067',
  'right-to-left mark': '\u200f',
  'zero-width space': '\u200b',
  'zero-width joiner': '\u200d',
  'word joiner': '\u2060',
  'byte order mark': '\ufeff',
  'soft hyphen': '\u00ad',
  'line separator': '\u2028',
  'half of a character, high': '\ud83d',
  'half of a character, low': '\udc8e',
  C1: '\u0085',
};
const visibleTexts = ['Toko Sari', 'Pulsa 10.000 – Promo!', '美', 'قسيمة', 'Diamond 💎', 'Ñandú ½ €'];

interface SchemaDescription {
  type?: string;
  keys?: Record<string, SchemaDescription>;
  rules?: { name: string; args?: { regex?: string } }[];
}
interface FreeText {
  of: string;
  name: string;
  schema: Joi.ObjectSchema;
  field: string;
}

/** The product defines the form of a customer number, so these are refused with 422/04. */
const numbers = ['customer_number', 'destination', 'customer'];
const allOperations: readonly { id: string; body?: unknown; query?: unknown; params?: unknown }[] = [
  ...operations,
  ...resellerOperations,
  ...consoleOperations,
];

/** Returns the fields whose pattern accepts free text. */
function freeTexts(): FreeText[] {
  return allOperations.flatMap(({ id, body, query, params }) =>
    [body, query, params].flatMap((given) => {
      const schema = given as Joi.ObjectSchema | undefined;
      const keys = (schema?.describe() as SchemaDescription | undefined)?.keys ?? {};
      return Object.entries(keys)
        .flatMap(([name, described]) => findFreeTextFields(described, name))
        .flatMap((field) =>
          schema && !numbers.includes(field) ? [{ of: id, name: field, schema, field }] : [],
        );
    }),
  );
}

function findFreeTextFields({ type, keys = {}, rules = [] }: SchemaDescription, name: string): string[] {
  const patterns = rules.filter((rule) => rule.name === 'pattern').map(({ args }) => String(args?.regex));
  const isFree = type === 'string' && patterns.length > 0 && patterns.every((each) => /^\/\^\[\^/.test(each));
  return [
    ...(isFree ? [name] : []),
    ...Object.entries(keys).flatMap(([key, each]) => findFreeTextFields(each, `${name}.${key}`)),
  ];
}

function validateText({ schema, field }: FreeText, value: string): FieldError[] {
  const [last = '', ...path] = field.split('.').reverse();
  const input = path.reduce<object>((inner, name) => ({ [name]: inner }), { [last]: value });
  try {
    validate(schema, input);
    return [];
  } catch (error) {
    return error instanceof ValidationError
      ? (error.errors ?? []).filter((each) => each.field === field && !/required/.test(each.message.en))
      : expect.fail(String(error));
  }
}

describe('free text', () => {
  it('every field refuses invisible characters with a message in both languages', () => {
    const all = freeTexts();
    expect(all.length).to.be.above(60);
    for (const each of all) {
      for (const [what, character] of Object.entries(invisibleCharacters)) {
        const shown = `${each.of} ${each.name}: ${what}`;
        const [mistake] = validateText(each, `a1${character}b`);
        expect(mistake?.message.en, shown).to.match(/invisible characters/);
        expect(mistake?.message.id, shown).to.match(/karakter yang tidak terlihat/);
      }
    }
  });

  it('covers names, descriptions and account names', () => {
    const names = freeTexts().map(({ of, name }) => `${of} ${name}`);
    expect(names).to.include.members([
      'createProduct name',
      'createProduct subcategory',
      'createProduct operator',
      'updateProduct description',
      'requestSettlement bank_account.account_name',
      'createBuyerEndpoint description',
    ]);
  });

  it('accepts letters of any script, symbols and emoji', () => {
    for (const each of freeTexts().filter(({ name }) => name === 'description' || name === 'name')) {
      for (const value of visibleTexts) {
        expect(validateText(each, value), `${each.of} ${value}`).to.deep.equal([]);
      }
    }
  });

  it("an operator's reason on the command line follows the same rule", () => {
    for (const [what, character] of Object.entries(invisibleCharacters)) {
      expect(findReasonProblem(`a bank${character}error`), what).to.match(/invisible characters/);
    }
    expect(visibleTexts.map(findReasonProblem)).to.deep.equal(visibleTexts.map(() => null));
  });

  it('invisible characters in provider and bank texts become spaces', async () => {
    for (const [what, character] of Object.entries(invisibleCharacters)) {
      expect(toPrintable(`a${character}b`), what).to.equal('a b');
    }
    expect(visibleTexts.map(toPrintable)).to.deep.equal(visibleTexts);
    const text = 'TRSF \u202eBUDI\u200b';
    const { incoming } = await readBankStatement(Buffer.from(statementOf({ amount: 50_123, text })));
    const [line] = incoming;
    expect(line).to.include({ amount: 50_123, description: 'TRSF  BUDI' });
    // Earlier releases built the line's key from the bank's unmodified text. The key must not
    // change, or the line would be imported twice.
    const same = JSON.stringify([line?.day, 50_123, text]);
    expect(line?.key).to.equal(createHash('sha256').update(`${same}1`).digest('hex'));
  });
});
