/**
 * `npm run check:references`: fails on every reference in documents, comments and messages that leads nowhere, such as
 * a link, a path, a section, a decision, an npm script or a command that does not exist (decision 058).
 */
import { deadReferences } from './references/dead-references.js';
import { readRepository } from './references/repository.js';

const repository = readRepository(process.cwd());
const found = deadReferences(repository);
for (const { file, line, problem } of found) {
  console.error(`${file}:${line}: ${problem}`);
}
if (found.length > 0) {
  console.error(`\n${found.length} references lead nowhere.`);
  process.exitCode = 1;
}
