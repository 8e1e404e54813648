/** Structure rules of the house, checked by `npm run check`. docs/explanation/architecture.md says what each room is for. */

/**
 * The floors, from the roof to the ground. A room may import from the floors below its own, never from a floor above
 * and never from a neighbour. Imports of types count: what a room's types name, its reader has to know.
 */
const floors = [
  ['^(scripts|workers)/'],
  ['^src/(app|server)\\.ts$'],
  ['^src/console/'],
  ['^src/api/'],
  ['^src/signals/'],
  ['^src/doctor/'],
  ['^src/(processes|all-models|sealed-values)\\.ts$'],
  ['^src/privacy/'],
  ['^src/reports/', '^src/reconciliation/', '^src/statements/'],
  [
    '^src/purchases/accept/',
    '^src/purchases/review/',
    '^src/purchases/sandbox/',
    '^src/settlements/',
    '^src/deposits/',
    '^src/adjustments/',
  ],
  ['^src/purchases/fulfil/'],
  ['^src/purchases/[^/]+$'],
  ['^src/bills/'],
  ['^src/accounts/changes/'],
  ['^src/providers/', '^src/webhooks/'],
  ['^src/accounts/[^/]+$', '^src/products/', '^src/operators/'],
  ['^src/money/', '^src/audit/'],
  ['^src/jobs/', '^src/alarms/', '^src/samples/', '^src/request-log/'],
  ['^src/redis/'],
  ['^src/database/'],
  ['^src/workbook/'],
  ['^src/shared/'],
  ['^config/'],
];

/** For every room: nothing of the floors above it, and none of its neighbours. */
const floorRules = floors.flatMap((rooms, depth) =>
  rooms.map((room) => {
    const above = floors.slice(0, depth).flat();
    const neighbours = rooms.filter((other) => other !== room);
    return {
      name: `floor-of-${room.replace(/[^\w/]/g, '')}`,
      comment: 'Arrows point downwards only: pass a function or data to what must tell a higher room.',
      severity: 'error',
      from: { path: room },
      to: { path: [...above, ...neighbours] },
    };
  }),
);

module.exports = {
  forbidden: [
    ...floorRules.filter((rule) => rule.to.path.length > 0),
    {
      name: 'no-cycles',
      comment: 'Type-only imports count.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'every-file-of-src-has-a-floor',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: floors.flat() },
    },
    {
      name: 'only-http-rooms-know-express',
      comment: 'The domain takes plain objects; HTTP ends in src/api and src/console.',
      severity: 'error',
      from: { path: '^(src|workers)', pathNot: '^src/(api/|console/|app\\.ts|server\\.ts)' },
      to: { path: 'node_modules/(express|@bull-board)/' },
    },
    {
      name: 'workers-never-import-http',
      severity: 'error',
      from: { path: '^workers' },
      to: { path: '^src/(api|console|app|server)' },
    },
    {
      name: 'pages-know-no-server',
      comment:
        'What the console in the browser knows of the service is the types that npm run generate makes of its operations.',
      severity: 'error',
      from: { path: '^packages/console/' },
      to: { path: '^(src|workers|config|scripts|test)/' },
    },
    {
      name: 'clients-know-no-server',
      comment: 'A client is used where the service is not: it knows its document alone.',
      severity: 'error',
      from: { path: '^packages/client-node/' },
      to: { path: '^(src|workers|config|scripts|test|packages/(console|embedded-mongo))/' },
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
