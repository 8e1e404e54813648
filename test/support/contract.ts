/** Checks every API response in the tests against the OpenAPI document. */
import fs from 'node:fs';
import { join } from 'node:path';
import { describedInterface } from '../../src/api/openapi/document.js';
import {
  commonFailures,
  buildFailureReferences,
  type FailureStatus,
} from '../../src/api/openapi/failures.js';
import type { DescribedOperation, OpenApiDocument, Response } from '../../src/api/openapi/types.js';
import { problemsOf } from './json-schema.js';

export interface AnswerToCheck {
  method: string;
  /** The path of the request, including its query. */
  path: string;
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
}

const document = readDocument();
const templates = Object.entries(document.paths).map(([template, item]) => ({
  item,
  pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`),
  /**
   * The number of path parameters. Of several matching templates, the one with the fewest
   * parameters applies.
   */
  parameters: (template.match(/\{/g) ?? []).length,
}));
templates.sort((a, b) => a.parameters - b.parameters);

/**
 * Returns the OpenAPI document. The test files of a run share a stored copy, because building the
 * document takes about a second.
 */
function readDocument(): OpenApiDocument {
  const shared = join(process.env['BUILT_TESTS'] ?? '', 'contract.json');
  if (fs.existsSync(shared)) {
    return JSON.parse(fs.readFileSync(shared, 'utf8')) as OpenApiDocument;
  }
  const made = describedInterface();
  // Another test file may write the copy at the same time, so write to a temporary file and rename
  // it.
  fs.writeFileSync(`${shared}.${process.pid}`, JSON.stringify(made));
  fs.renameSync(`${shared}.${process.pid}`, shared);
  return made;
}

/**
 * Matches paths that clients call. Health checks, the console and the providers' protocols are not
 * in the document.
 */
const surfaces = /^\/(v1|api\/(buyer|seller|reseller|sandbox))(\/|$)/;
/**
 * Failure statuses that every operation may return. 404 is allowed only for paths without an
 * operation.
 */
const ofEveryOperation: FailureStatus[] = [405, 413, 415];
const generalFailures = {
  withOperation: buildFailureReferences(ofEveryOperation),
  withoutOperation: buildFailureReferences([...ofEveryOperation, ...commonFailures, 404]),
};

/**
 * Checks a response against the contract.
 * @throws Error that names the mismatch: an unknown status, a wrong type, or a missing or extra
 * field.
 */
export function expectToFitContract(answer: AnswerToCheck): void {
  const path = answer.path.split('?', 1)[0] ?? '';
  if (!surfaces.test(path) || answer.method === 'HEAD') {
    return;
  }
  const operation = operationOf(answer.method, path);
  const fail = (problem: string): never => {
    const shown = JSON.stringify(answer.body).slice(0, 1_000);
    throw new Error(
      `${answer.method} ${path} answered ${answer.status} against the contract: ${problem}\n${shown}`,
    );
  };
  const described = operation
    ? (operation.responses[answer.status] ?? generalFailures.withOperation[answer.status])
    : generalFailures.withoutOperation[answer.status];
  if (!described) {
    return fail('this status is not in the document');
  }
  const { content: contents } = responseOf(described);
  if (Object.keys(contents).length === 0) {
    return answer.body === null || answer.body === '' ? undefined : fail('it has a body');
  }
  const type = String(answer.headers['content-type']);
  const content = contents[type.split(';', 1)[0] ?? ''];
  if (!content) {
    return fail(`its type is ${type}`);
  }
  const problems = problemsOf(content.schema, answer.body);
  if (problems.length > 0) {
    fail(problems.join('; '));
  }
}

/** Returns the operation for a method and a path. The path must not contain a query. */
export function operationOf(method: string, path: string): DescribedOperation | undefined {
  return templates.find(({ pattern }) => pattern.test(path))?.item[method.toLowerCase()];
}

function responseOf(described: Response | { $ref: string }): Response {
  if (!('$ref' in described)) {
    return described;
  }
  const name = described.$ref.split('/').at(-1) ?? '';
  const found = document.components.responses[name];
  if (!found) {
    throw new Error(`The document lacks ${described.$ref}`);
  }
  return found;
}
