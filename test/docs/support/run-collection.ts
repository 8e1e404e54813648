import { createRequire } from 'node:module';
import path from 'node:path';
import { projectRoot } from '../../../config/project-file.js';

/** The result of one call of a collection. */
export interface CallResult {
  operationId: string;
  status: number;
  /** The error of the call's test or of a script. Null if there is none. */
  error: string | null;
}

interface Runner {
  run(
    collection: object,
    options: object,
    started: (error: Error | null, run: { start(callbacks: object): void }) => void,
  ): void;
}

/**
 * Runs a collection with Postman's own engine. The package newman is not used, because it depends
 * on an old release of the engine with known vulnerabilities.
 */
export function runCollection(json: string, values: Record<string, string>): Promise<CallResult[]> {
  const require = createRequire(path.join(projectRoot, 'package.json'));
  const { Collection } = require('postman-collection') as { Collection: new (parsed: object) => object };
  const runtime = require('postman-runtime') as { Runner: new () => Runner };
  const parsed = JSON.parse(json) as { variable: { key: string; value: string }[] };
  for (const each of parsed.variable) {
    each.value = values[each.key] ?? each.value;
  }
  const ran: CallResult[] = [];
  const errors: string[] = [];
  let status = 0;
  return new Promise((resolve, reject) => {
    const options = { timeout: { global: 120_000, request: 30_000, script: 10_000 } };
    new runtime.Runner().run(new Collection(parsed), options, (error, run) => {
      if (error) {
        reject(error);
        return;
      }
      run.start({
        exception: (_cursor: unknown, thrown: Error) => errors.push(thrown.message),
        request: (failed: Error | null, _cursor: unknown, response: { code: number } | undefined) => {
          status = response?.code ?? 0;
          if (failed) {
            errors.push(failed.message);
          }
        },
        assertion: (_cursor: unknown, results: { name: string; error: { message: string } | null }[]) => {
          for (const { name, error: wrong } of results) {
            const [operationId = ''] = name.split(' ');
            const message = [...errors.splice(0), ...(wrong ? [wrong.message] : [])].join('; ');
            ran.push({ operationId, status, error: message === '' ? null : message });
          }
        },
        done: (failed: Error | null) => {
          if (failed || errors.length > 0) {
            reject(failed ?? new Error(errors.join('; ')));
          } else {
            resolve(ran);
          }
        },
      });
    });
  });
}
