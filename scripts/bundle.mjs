/**
 * Bundles each program with its packages into one file. Loading 1,500 package files makes a start
 * three times slower. Plain Node, because it runs before the build.
 */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { build } from 'esbuild';

/**
 * Not bundled: native code, packages that read files next to their own, and rarely loaded packages.
 */
const external = [
  '@node-rs/argon2',
  '@opentelemetry/sdk-trace',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/context-async-hooks',
  '@opentelemetry/resources',
  'esbuild',
  // mocha uses these only for parallel runs.
  './worker.cjs',
  './reporters/parallel-buffered.cjs',
  'mongodb-memory-server-core',
  'playwright-core',
];

/** Globals that CommonJS packages expect inside an ES module. */
const commonJs = [
  `import { createRequire as __createRequire } from 'node:module';`,
  `import { fileURLToPath as __fileURLToPath } from 'node:url';`,
  `import { dirname as __directoryOf } from 'node:path';`,
  `const require = __createRequire(import.meta.url);`,
  `const __filename = __fileURLToPath(import.meta.url);`,
  `const __dirname = __directoryOf(__filename);`,
].join('');

/**
 * Node parses the whole source map at each start, and packages would make it ten times larger.
 * Packages map to their file name without a line.
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
 * @param options.format `cjs` builds one script whose compiled code can be cached
 * (supervisor/run-cached.ts).
 * @param options.compact Leaves out white space and comments, which Node would read at each start.
 * @returns The input files with their imports.
 */
export async function bundle(
  root,
  { entryPoints, outdir, extension = '.js', format = 'esm', compact = false },
) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    outbase: root,
    outExtension: { '.js': extension },
    bundle: true,
    platform: 'node',
    format,
    target: 'node20',
    external,
    // Node prints the line of an uncaught error, so lines must stay short.
    ...(compact && { minifyWhitespace: true, legalComments: 'none', lineLimit: 200 }),
    ...(format === 'cjs'
      ? {
          define: { 'import.meta.dirname': '__dirname' },
          // Cached code cannot use import() in Node 20, but it can use require().
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
