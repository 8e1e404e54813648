/** npm run build: every program of the clone as one file below dist/, at the path from which it is started. */
import { execSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';
import { packagesHash } from './prepare.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const dist = path.join(root, 'dist');

const programs = [
  'src/server',
  'workers/run',
  'scripts/simulator/main',
  'scripts/inbox/main',
  'scripts/bench/main',
  ...readdirSync(path.join(root, 'scripts'))
    // Checks are for developers alone, and tsx runs them.
    .filter((file) => file.endsWith('.ts') && !file.startsWith('check-'))
    .map((file) => `scripts/${path.parse(file).name}`),
];
/** Preloaded, or so small that they start as they are; and what imports modules that no bundle knows. */
const helpers = [
  'scripts/test/file-process',
  'scripts/supervisor/guard',
  'scripts/supervisor/follow-parent',
  'scripts/supervisor/run-cached',
  'scripts/bench/watch-event-loop',
];

const startedAt = Date.now();
await bundle(root, {
  entryPoints: programs.map((program) => ({ in: `${program}.ts`, out: `${program}.bundle` })),
  outdir: dist,
  extension: '.cjs',
  format: 'cjs',
});
await bundle(root, { entryPoints: helpers.map((helper) => `${helper}.ts`), outdir: dist });
for (const program of programs) {
  const file = path.join(dist, `${program}.js`);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, starter(program));
}

// What a reader of /docs installs, under a name without its version.
const packed = path.join(dist, 'clients');
mkdirSync(packed, { recursive: true });
execSync(`npm pack --silent --ignore-scripts --pack-destination "${packed}"`, {
  cwd: path.join(root, 'packages/client-node'),
  stdio: ['ignore', 'ignore', 'inherit'],
});
const [tarball] = readdirSync(packed).filter((file) => /-\d.*\.tgz$/.test(file));
renameSync(path.join(packed, tarball), path.join(packed, 'topup-client.tgz'));

// A running copy may still start programs: what an earlier build left over goes last.
removeOlderThan(startedAt, dist);

// For scripts/prepare.mjs. What was edited while the build ran is newer than this, so that the next start builds again.
const stamp = path.join(dist, '.built');
writeFileSync(stamp, packagesHash());
utimesSync(stamp, startedAt / 1_000, startedAt / 1_000);

/** @returns whether anything is left in the folder. */
function removeOlderThan(time, folder) {
  const left = readdirSync(folder, { withFileTypes: true }).filter((entry) => {
    const file = path.join(folder, entry.name);
    const keep = entry.isDirectory()
      ? // Built before this: the console's pages by Vite, and what npm run generate writes.
        [path.join(dist, 'console'), path.join(dist, 'generated')].includes(file) ||
        removeOlderThan(time, file)
      : entry.name === '.built' || statSync(file).mtimeMs >= time;
    if (!keep) {
      rmSync(file, { recursive: true });
    }
    return keep;
  });
  return left.length > 0;
}

/**
 * Source maps must be on before the code is loaded, and then Node 22 keeps what it has compiled. Under test they are off:
 * Node reads the whole map for every first stack, also for those that a driver only looks at. A run of the tests starts
 * hundreds of processes, and their compiled code is kept with any Node. The operator's command line is short-lived too:
 * it starts without maps, and reads its own for a stack that it prints.
 */
function starter(program) {
  const bundled = `./${path.basename(program)}.bundle.cjs`;
  const runCached = path.posix.relative(path.posix.dirname(program), 'scripts/supervisor/run-cached.js');
  const isShort = program === 'scripts/topup';
  return [
    `import module from 'node:module';`,
    `if (process.env.NODE_ENV === 'test'${isShort ? ' || !module.enableCompileCache' : ''}) {`,
    `  const { runCached } = await import('${runCached.startsWith('.') ? runCached : `./${runCached}`}');`,
    `  runCached(new URL('${bundled}', import.meta.url));`,
    `} else {`,
    ...(isShort ? [] : [`  process.setSourceMapsEnabled(true);`]),
    `  module.enableCompileCache?.();`,
    `  module.createRequire(import.meta.url)('${bundled}');`,
    `}`,
    '',
  ].join('\n');
}
