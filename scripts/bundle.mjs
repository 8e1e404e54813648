/**
 * Makes each program one file: its own code and the packages that it needs. A process that reads 1,500 files of
 * packages at its start takes three times as long to be ready. Plain Node, because the build itself comes first.
 */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { build } from 'esbuild';

/** Native code, packages that find other files beside themselves, and what most processes never load. */
const external = [
  '@node-rs/argon2',
  '@opentelemetry/sdk-trace',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/context-async-hooks',
  '@opentelemetry/resources',
  'esbuild',
  // Of mocha, for runs of several files in one process.
  './worker.cjs',
  './reporters/parallel-buffered.cjs',
  'mongodb-memory-server-core',
  'playwright-core',
];

/** What packages in CommonJS expect of Node, in a module of the other kind. */
const commonJs = [
  `import { createRequire as __createRequire } from 'node:module';`,
  `import { fileURLToPath as __fileURLToPath } from 'node:url';`,
  `import { dirname as __directoryOf } from 'node:path';`,
  `const require = __createRequire(import.meta.url);`,
  `const __filename = __fileURLToPath(import.meta.url);`,
  `const __dirname = __directoryOf(__filename);`,
].join('');

/**
 * Node reads a whole source map at each start, and what packages would add to it is ten times our own part. Of a
 * package it names the file, without the line.
 */
const shortMaps = {
  name: 'short-maps',
  setup(plugin) {
    plugin.onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path }) => {
      const map = JSON.stringify({ version: 3, sources: [basename(path)], mappings: 'AAAA' });
      const comment = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}`;
      return { contents: `${await readFile(path, 'utf8')}\n${comment}`, loader: 'js' };
    });
  },
};

/**
 * @param options.format `cjs`: one script, whose compiled code can be kept (supervisor/run-cached.ts); `esm`: can share
 *   chunks with others.
 * @returns the files that went in, with what each imports.
 */
export async function bundle(
  root,
  { entryPoints, outdir, extension = '.js', splitting = false, format = 'esm' },
) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    outbase: root,
    outExtension: { '.js': extension },
    splitting,
    bundle: true,
    platform: 'node',
    format,
    target: 'node20',
    external,
    ...(format === 'cjs'
      ? {
          define: { 'import.meta.dirname': '__dirname' },
          // Kept code cannot import any more (Node 20), but it can require.
          supported: { 'dynamic-import': false },
        }
      : { banner: { js: commonJs } }),
    sourcemap: true,
    sourcesContent: false,
    plugins: [shortMaps],
    metafile: true,
    logLevel: 'warning',
  });
  return metafile.inputs;
}
