import { MongoError } from '../../errors.js';
import { keysOf } from '../../values/fields.js';
import { isDoc, typeNameOf } from '../../values/types.js';
import type { Doc } from '../../values/types.js';
import type { Stage, StageCall } from '../stage.js';
import { simpleStages } from './simple.js';
import { compileSetWindowFields } from './window.js';

/** `$fill`: null and missing fields get a value, or the last one seen before (`locf`). */
export function compileFill(specification: unknown, call: StageCall): Stage {
  if (!isDoc(specification)) {
    throw new MongoError(
      9,
      `The $fill stage specification must be an object, found ${typeNameOf(specification)}`,
    );
  }
  const unknown = keysOf(specification).find(
    (key) => !['partitionBy', 'partitionByFields', 'sortBy', 'output'].includes(key),
  );
  if (unknown !== undefined) {
    throw new MongoError(40415, `BSON field '$fill.${unknown}' is an unknown field.`);
  }
  const { output, partitionBy, partitionByFields: fields, sortBy } = specification;
  if (!isDoc(output)) {
    throw new MongoError(40414, "BSON field '$fill.output' is missing but a required field");
  }
  if (partitionBy !== undefined && fields !== undefined) {
    throw new MongoError(
      6050204,
      "Maximum one of 'partitionBy' and 'partitionByFields' can be specified in $fill",
    );
  }
  const values: Doc = {};
  const carried: Doc = {};
  for (const path of keysOf(output)) {
    parseOutput(path, output[path], { values, carried });
  }
  const partition = fields === undefined ? partitionBy : partitionOf(fields);
  return joined(
    [
      keysOf(carried).length > 0 ? windowsStage({ partition, sortBy, carried }, call) : undefined,
      keysOf(values).length > 0 ? simpleStages.$addFields?.(values, call) : undefined,
    ].filter((stage) => stage !== undefined),
  );
}

function joined(stages: readonly Stage[]): Stage {
  return (input) => stages.reduce((documents, stage) => stage(documents), input);
}

function parseOutput(
  path: string,
  fill: unknown,
  { values, carried }: { readonly values: Doc; readonly carried: Doc },
): void {
  if (!isDoc(fill) || keysOf(fill).length !== 1) {
    throw new MongoError(
      6050202,
      `The $fill output of ${path} must have exactly one of 'value' and 'method'`,
    );
  }
  if ('value' in fill) {
    values[path] = { $ifNull: [`$${path}`, fill.value] };
  } else if (fill.method === 'locf') {
    carried[path] = { $locf: `$${path}` };
  } else if (fill.method === 'linear') {
    throw new MongoError(238, "$fill with method 'linear' is not supported by embedded-mongo");
  } else {
    throw new MongoError(6050202, 'Method must be either locf or linear');
  }
}

function partitionOf(fields: unknown): Doc {
  if (!Array.isArray(fields) || !fields.every((field) => typeof field === 'string')) {
    throw new MongoError(14, "BSON field '$fill.partitionByFields' must be an array of strings");
  }
  return Object.fromEntries(fields.map((field: string) => [field.replaceAll('.', '_'), `$${field}`]));
}

function windowsStage(
  {
    partition,
    sortBy,
    carried,
  }: { readonly partition: unknown; readonly sortBy: unknown; readonly carried: Doc },
  call: StageCall,
): Stage {
  const specification: Doc = { output: carried };
  if (partition !== undefined) {
    specification.partitionBy = partition;
  }
  if (sortBy !== undefined) {
    specification.sortBy = sortBy;
  }
  return compileSetWindowFields(specification, call);
}
