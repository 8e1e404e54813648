/** Structure rules of the house style, checked by `npm run check`. */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'only-api-knows-express',
      comment: 'The domain takes plain objects; HTTP ends in src/api.',
      severity: 'error',
      from: { path: '^(src|workers)', pathNot: '^src/(api|app\\.ts|server\\.ts)' },
      to: { path: 'node_modules/(express|@bull-board)/' },
    },
    {
      name: 'src-never-imports-workers',
      severity: 'error',
      from: { path: '^src' },
      to: { path: '^workers' },
    },
    {
      name: 'workers-never-import-api',
      severity: 'error',
      from: { path: '^workers' },
      to: { path: '^src/(api|app|server)' },
    },
    {
      name: 'domain-never-imports-api',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/(api|app\\.ts|server\\.ts)' },
      to: { path: '^src/api' },
    },
    {
      name: 'nothing-imports-the-simulator',
      comment: 'Provider simulator and inbox are separate programs that speak HTTP only.',
      severity: 'error',
      from: { path: '^(src|workers|config)' },
      to: { path: '^scripts' },
    },
    {
      name: 'no-embedded-mongo',
      severity: 'error',
      from: { path: '^(src|workers|config)' },
      to: { path: '^packages' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
