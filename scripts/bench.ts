/**
 * `npm run bench [-- <name>]`: a benchmark on durable databases of its own that are gone afterwards. Figures are
 * comparable within one run only, which is why each one measures its own yardstick as well.
 */
import path from 'node:path';
import { builtProgram } from '../config/project-file.js';
import { withOwnDatabases } from './databases/own-databases.js';

const benches = {
  webhooks: 'deliveries per second and per core, beside the bare HTTP client (EVENTS=2000, ROUNDS=5)',
};

const [name, ...rest] = process.argv.slice(2);
if (name === undefined || !Object.hasOwn(benches, name) || rest.length > 0) {
  const listed = Object.entries(benches).map(([each, what]) => `  npm run bench -- ${each}   ${what}`);
  console.error(`One benchmark at a time:\n\n${listed.join('\n')}\n
The development database has its own: npm run bench -w packages/embedded-mongo`);
  process.exit(name === undefined || name === '--help' ? 0 : 2);
}

process.exit(
  await withOwnDatabases({ durable: true }, async ({ env, node, used }) => {
    console.log(`Measured on: ${used}`);
    const file = builtProgram(`scripts/bench/${name}.js`);
    return node([file], { cwd: path.dirname(file), env });
  }),
);
