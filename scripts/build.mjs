/**
 * `npm run build`: bundles every program into one file below dist/, at the path from which it is
 * started.
 */
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
  'scripts/test/file-process',
  ...readdirSync(path.join(root, 'scripts'))
    // The checks are only for developers, who run them with tsx.
    .filter((file) => file.endsWith('.ts') && !file.startsWith('check-'))
    .map((file) => `scripts/${path.parse(file).name}`),
];
/**
 * Preloads, small programs, and modules that import unbundled modules. They are not bundled into
 * one file.
 */
const helpers = [
  'scripts/test/test-program',
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

// Packs the client that /docs offers for installation, under a file name without a version.
const packed = path.join(dist, 'clients');
mkdirSync(packed, { recursive: true });
execSync(`npm pack --silent --ignore-scripts --pack-destination "${packed}"`, {
  cwd: path.join(root, 'packages/client-node'),
  stdio: ['ignore', 'ignore', 'inherit'],
});
const [tarball] = readdirSync(packed).filter((file) => /-\d.*\.tgz$/.test(file));
renameSync(path.join(packed, tarball), path.join(packed, 'topup-client.tgz'));

// A running copy may still start programs of the earlier build, so old files are removed last.
removeOlderThan(startedAt, dist);

// scripts/prepare.mjs reads this stamp. Sources edited during the build are newer than the stamp,
// so the next start builds again.
const stamp = path.join(dist, '.built');
writeFileSync(stamp, packagesHash());
utimesSync(stamp, startedAt / 1_000, startedAt / 1_000);

/** @returns True if the folder still contains files. */
function removeOlderThan(time, folder) {
  const left = readdirSync(folder, { withFileTypes: true }).filter((entry) => {
    const file = path.join(folder, entry.name);
    const keep = entry.isDirectory()
      ? // Built before this step: the console's pages by Vite, and the output of npm run generate.
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
 * Source maps must be on before the code loads; Node 22 also caches compiled code. In tests they
 * are off, because Node parses the whole map for the first stack trace, and a test run starts
 * hundreds of processes. The operator CLI also starts without maps and reads its own map for a
 * stack that it prints.
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
