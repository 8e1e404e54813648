/**
 * `npm run check`: runs npm run generate, then every `check:…` script of package.json, two at a
 * time. Prints the output of a step when it ends, and a summary. `npm run check -- lint types` runs
 * only these steps. Plain Node, because it checks unbuilt sources.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const atOnce = 2;
const prefix = 'check:';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const known = Object.keys(scripts).flatMap((name) =>
  name.startsWith(prefix) ? [name.slice(prefix.length)] : [],
);
const wanted = process.argv.slice(2);
const unknown = wanted.filter((step) => !known.includes(step));
if (unknown.length > 0) {
  console.error(`There is no step ${unknown.join(', ')}. The steps are: ${known.join(', ')}`);
  process.exit(2);
}

// Other steps read generated types, which are not in the repository.
if (
  scripts.generate &&
  spawnSync('npm', ['run', '--silent', 'generate'], { stdio: 'inherit' }).status !== 0
) {
  console.log('check: npm run generate failed, so no step was run');
  process.exit(1);
}

const waiting = wanted.length > 0 ? [...wanted] : [...known];
const count = waiting.length;
const failed = [];
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const { isGreen, printed, seconds } = await run(step);
      const took = `${step} (${seconds} s)`;
      console.log(
        `${isGreen ? '✔' : '✖'} ${took}${printed === '' ? '' : `\n${printed.replace(/^(?=.)/gm, '    ')}`}`,
      );
      if (!isGreen) {
        failed.push(took);
      }
    }
  }),
);
console.log(
  failed.length === 0
    ? `check: ${count} steps passed`
    : `check: ${count - failed.length} steps passed, ${failed.length} failed: ${failed.join(', ')}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

async function run(step) {
  const startedAt = performance.now();
  const child = spawn('npm', ['run', '--silent', `${prefix}${step}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  child.stderr.on('data', (chunk) => chunks.push(chunk));
  const isGreen = await new Promise((resolve) => {
    child.once('error', (error) => {
      chunks.push(Buffer.from(error.message));
      resolve(false);
    });
    child.once('close', (code) => resolve(code === 0));
  });
  return {
    isGreen,
    printed: Buffer.concat(chunks).toString().trimEnd(),
    seconds: Math.round((performance.now() - startedAt) / 1_000),
  };
}
