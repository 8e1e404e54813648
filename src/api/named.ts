import type Joi from 'joi';

/** Gives a schema a name of its own in the OpenAPI document (components.schemas): generated clients call its type so. */
export function nameSchema<Schema extends Joi.Schema>(name: string, schema: Schema): Schema {
  return schema.meta({ name }) as Schema;
}

/** What else than Joi's own rules the document says of a schema: its checks are a function. */
export function documentSchemaAs<Schema extends Joi.Schema>(schema: Schema, shown: object): Schema {
  return schema.meta({ shown }) as Schema;
}
