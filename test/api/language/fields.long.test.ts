/** Messages for invalid fields, for every schema of the contract. */
import { expect } from 'chai';
import Joi from 'joi';
import { operations, resellerOperations } from '../../../src/api/operations.js';
import { validate } from '../../../src/api/contract/validate.js';
import { ValidationError, type FieldError } from '../../../src/shared/errors.js';
import { fieldsOf, sampleOf, withField } from '../contract/support/probes.js';
import { englishWordIn } from './english-words.js';

const schemas = [
  ...operations.flatMap(({ id, body, params, query }) => [
    { name: `body of ${id}`, where: 'body' as const, schema: body as Joi.ObjectSchema | undefined },
    { name: `path of ${id}`, where: 'path' as const, schema: params as Joi.ObjectSchema | undefined },
    { name: `query of ${id}`, where: 'query' as const, schema: query as Joi.ObjectSchema | undefined },
  ]),
  ...resellerOperations.map(({ id, query }) => ({
    name: `query of ${id}`,
    where: 'query' as const,
    schema: query as Joi.ObjectSchema | undefined,
  })),
];

const invalidUrls = [
  'shop',
  'ftp://shop.example/',
  'javascript:alert(1)',
  '//shop.example/',
  'https://',
  'https://shop.example/a b',
  'https://shop.example/\u202e',
];
/** Terms of the validation library that must not appear in messages to clients. */
const ruleWordPattern = /\b(uri|pattern|scheme|regexp?|guid|validation|peers|fails)\b|https\|http/i;

describe('field errors', () => {
  const mistakesIn = (schema: Joi.ObjectSchema, input: unknown): FieldError[] => {
    try {
      validate(schema, input);
      return [];
    } catch (error) {
      if (error instanceof ValidationError) {
        return error.errors ?? [];
      }
      throw error;
    }
  };

  it('state the minimum length of an empty list with the right plural', () => {
    const schema = Joi.object({
      one: Joi.array().items(Joi.string().max(9)).min(1).max(9),
      two: Joi.array().items(Joi.string().max(9)).min(2).max(9),
    });
    expect(mistakesIn(schema, { one: [], two: [] }).map(({ message }) => message.en)).to.deep.equal([
      'one must contain at least 1 item',
      'two must contain at least 2 items',
    ]);
  });

  it('describe the value and not the rule, in both languages', () => {
    for (const { name, where, schema } of schemas) {
      for (const field of fieldsOf(schema, where)) {
        for (const value of [...field.outside, ...invalidUrls]) {
          const found = schema ? mistakesIn(schema, withField(sampleOf(schema), field.name, value)) : [];
          for (const { message } of found) {
            const shown = `${name}: ${message.en} / ${message.id}`;
            expect(`${message.en} ${message.id}`, shown).to.not.match(ruleWordPattern);
          }
        }
      }
    }
  });

  it('a refused URL has the same message everywhere, with an example', () => {
    let taken = 0;
    for (const { name, where, schema } of schemas) {
      for (const field of fieldsOf(schema, where).filter(({ name: each }) => /(^|_)url$/.test(each))) {
        taken += 1;
        for (const value of invalidUrls) {
          const found = schema ? mistakesIn(schema, withField(sampleOf(schema), field.name, value)) : [];
          expect(found, `${name} ${value}`).to.deep.equal([
            {
              field: field.name,
              reason: 'wrong_form',
              message: {
                en: `${field.name} must be a URL such as https://shop.example/hooks/topup`,
                id: `${field.name} harus berupa URL, misalnya https://shop.example/hooks/topup`,
              },
            },
          ]);
        }
      }
    }
    expect(taken).to.be.at.least(7);
  });

  it('every rule of every field has a message in both languages', () => {
    let messageCount = 0;
    for (const { name, where, schema } of schemas) {
      for (const field of fieldsOf(schema, where)) {
        for (const value of [...field.outside, [null], [{}], Infinity, ['x', 'x']]) {
          const input = withField(sampleOf(schema), field.name, value);
          for (const { field: fieldPath, message } of schema ? mistakesIn(schema, input) : []) {
            messageCount += 1;
            const shown = `${name}: ${message.en} / ${message.id}`;
            expect(message.id, shown).to.not.equal(message.en);
            // Ignore the field name, the sent value and the allowed values, which are not
            // translated.
            const rest = message.id.replace(fieldPath, '').replace(/(salah satu dari|harus|Gunakan) .*$/, '');
            expect(englishWordIn(rest), shown).to.equal(null);
            expect(message.id.includes(fieldPath.split('.')[0] ?? ''), shown).to.equal(true);
          }
        }
      }
    }
    expect(messageCount).to.be.above(200);
  });
});
