/**
 * `npm run check:references`: fails on dead references in documents, comments and messages, such as
 * a link, path, section, decision, npm script or command that does not exist (decision 058).
 */
import { deadReferences } from './references/dead-references.js';
import { readRepository } from './references/repository.js';

const repository = readRepository(process.cwd());
const found = deadReferences(repository);
for (const { file, line, problem } of found) {
  console.error(`${file}:${line}: ${problem}`);
}
if (found.length > 0) {
  console.error(`\n${found.length} references are dead.`);
  process.exitCode = 1;
}
