/**
 * `npm run check:openapi`: lints the OpenAPI document with Redocly and Spectral. Compared with the
 * last release, only the removals in scripts/openapi/accepted-breaks.json are allowed (decision
 * 024). `-- --accept` makes this document the new baseline. It connects to nothing.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from './openapi/breaking-changes.js';
import { acceptRelease, contractProblems, findAcceptanceProblem } from './openapi/compare-with-release.js';

// The configuration requires database addresses, although the document does not.
process.env['MONGODB_URI'] ??= 'mongodb://127.0.0.1/none';
process.env['REDIS_URL'] ??= 'redis://127.0.0.1/0';
process.env['BASE_URL'] = 'https://topup.example';
const { openApiDocument } = await import('../src/api/openapi/document.js');

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const baselineSource = { folder: 'scripts/openapi', version };
const cache = 'node_modules/.cache/openapi';
const file = join(cache, 'openapi.json');
const document = JSON.parse(JSON.stringify(openApiDocument())) as Json;
const isAccepting = process.argv.includes('--accept');
const refusal = isAccepting ? findAcceptanceProblem(baselineSource, document) : null;
if (refusal !== null) {
  console.error(refusal);
  process.exit(1);
}
mkdirSync(cache, { recursive: true });
writeFileSync(file, JSON.stringify(document, null, 2));

const problems: string[] = [];
const lint = (name: string, args: string[]) => {
  const { status, error, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  if (status !== 0 || /"severity": ?"(?:warn|error)"/.test(stdout)) {
    problems.push(`${name}: ${error?.message ?? ''}\n${stdout}${stderr}`);
  }
};
lint('Redocly', [
  'node_modules/@redocly/cli/bin/cli.js',
  'lint',
  file,
  '--config',
  'scripts/openapi/redocly.yaml',
  '--format',
  'json',
]);
lint('Spectral', [
  'node_modules/@stoplight/spectral-cli/dist/index.js',
  'lint',
  file,
  '--ruleset',
  'scripts/openapi/spectral.yaml',
  '--fail-severity',
  'hint',
  '--quiet',
]);
if (isAccepting && problems.length === 0) {
  acceptRelease(baselineSource, document);
}
problems.push(...contractProblems(baselineSource, document));

for (const problem of problems) {
  console.error(problem);
}
// Imported operations keep timers, which would prevent the process from exiting.
process.exit(problems.length > 0 ? 1 : 0);
