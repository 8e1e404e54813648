/**
 * `npm run bench [-- <name>]`: runs one benchmark on temporary durable databases. Compare figures
 * only within one run, because every benchmark also measures its own yardstick.
 */
import path from 'node:path';
import { getBuiltProgramPath } from '../config/project-file.js';
import { benches, isBench } from './bench/usage.js';
import { withOwnDatabases } from './databases/own-databases.js';

const [name, ...rest] = process.argv.slice(2);
if (name === undefined || !isBench(name) || rest.length > 0) {
  const listed = Object.entries(benches).map(
    ([each, { does, options }]) =>
      `  npm run bench -- ${each.padEnd(11)} ${does}\n${' '.repeat(29)}(${options})`,
  );
  console.error(`Runs one benchmark. The variables in brackets can be set in the environment:\n\n${listed.join('\n')}\n
PROFILE=<folder> writes a CPU profile of every process of the service to that folder.
The development database has its own benchmarks: npm run bench -w packages/embedded-mongo`);
  process.exit(name === undefined || name === '--help' ? 0 : 2);
}

void withOwnDatabases({ durable: true }, async ({ env, node, used }) => {
  console.log(`Measured on: ${used}`);
  const file = getBuiltProgramPath('scripts/bench/main.js');
  return node([file, name], { cwd: path.dirname(file), env });
}).then((exitCode) => process.exit(exitCode));
