/**
 * `npm run check:install-scripts`: fails if a dependency with an install script is not reviewed.
 */
import { readFileSync } from 'node:fs';
import { installScriptMistakes, type Lock } from './install-scripts.js';

const mistakes = installScriptMistakes(
  JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock,
  JSON.parse(readFileSync('package.json', 'utf8')) as object,
  readFileSync('.npmrc', 'utf8'),
);
for (const mistake of mistakes) {
  console.error(mistake);
}
if (mistakes.length > 0) {
  process.exitCode = 1;
}
