import ts from 'typescript';
import tseslint from 'typescript-eslint';

// Each block checks rules of the house style.
const noDefaultExport = {
  selector: 'ExportDefaultDeclaration',
  message: 'Use named exports: a name that can be searched for everywhere.',
};
const noLiteralSpread = {
  selector: 'SpreadElement > :matches(ObjectExpression, ArrayExpression)',
  message: 'Write the members of the literal in place of the spread.',
};
const noProcessEnv = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Read configuration through config/env.ts, which validates all of it at start.',
};

/**
 * `record[name]` also finds inherited names such as `constructor` and `__proto__`. `lookUp` finds
 * own names only (decision 023).
 */
const recordLookup = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      found: 'Use lookUp(record, name) or a Map: the name may be `constructor`.',
    },
  },
  create(context) {
    const services = context.sourceCode.parserServices;
    const checker = services.program.getTypeChecker();
    const typeOf = (node) => checker.getTypeAtLocation(services.esTreeNodeToTSNodeMap.get(node));
    return {
      'MemberExpression[computed=true]'(node) {
        const isWritten = node.parent.type === 'AssignmentExpression' && node.parent.left === node;
        const index =
          isWritten || node.property.type === 'Literal' ? null : typeOf(node.object).getStringIndexType();
        // Values of unknown type, such as documents of MongoDB, are not lookup tables.
        const isTable = index && !(index.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown));
        if (isTable && typeOf(node.property).flags & ts.TypeFlags.String) {
          context.report({ node, messageId: 'found' });
        }
      },
    };
  },
};

/** Long paragraphs in comments are hard to read. Tags, tables and lists start a new paragraph. */
const commentParagraphs = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { long: 'A paragraph of a comment has at most five lines: divide or shorten it.' },
  },
  create(context) {
    return {
      Program() {
        let run = 0;
        context.sourceCode.lines.forEach((text, index) => {
          run = /^\s*(\/\/|\*(?!\/))\s*[^\s@|-]/.test(text) ? run + 1 : 0;
          if (run === 6) {
            context.report({ loc: { line: index + 1, column: 0 }, messageId: 'long' });
          }
        });
      },
    };
  },
};

/** Express's own parsers would act before the whole request has arrived. */
const parsers = ['json', 'raw', 'text', 'urlencoded'];
const message = 'Bodies are parsed by src/api/http/request-body.ts.';
const noParserOfExpress = {
  'no-restricted-properties': [
    'error',
    ...parsers.map((property) => ({ object: 'express', property, message })),
  ],
  'no-restricted-imports': ['error', { paths: [{ name: 'express', importNames: parsers, message }] }],
};

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      'node_modules',
      'coverage',
      '.local',
      '**/*.mjs',
      '**/*.cjs',
      'eslint.config.js',
      'packages/console/src/api/schema.d.ts',
      'packages/client-node/src/schema.ts',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      curly: ['error', 'all'],
      eqeqeq: ['error', 'always'],
      // Mongoose describes its schema options as classes; object literals are how they are written.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      'no-console': 'error',
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      'no-restricted-syntax': ['error', noDefaultExport, noLiteralSpread, noProcessEnv],
      ...noParserOfExpress,
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  {
    plugins: {
      house: { rules: { 'record-lookup': recordLookup, 'comment-paragraphs': commentParagraphs } },
    },
    rules: { 'house/comment-paragraphs': 'error' },
  },
  {
    files: ['src/**'],
    rules: { 'house/record-lookup': 'error' },
  },
  {
    files: ['packages/console/**'],
    languageOptions: { parserOptions: { project: './packages/console/tsconfig.json' } },
    rules: {
      // A component is a function with its markup in it.
      'max-lines-per-function': ['error', { max: 140, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['config/env.ts'],
    rules: { 'no-restricted-syntax': ['error', noDefaultExport, noLiteralSpread] },
  },
  {
    files: ['src/api/http/request-body.ts', 'scripts/**', 'test/**'],
    rules: { 'no-restricted-properties': 'off', 'no-restricted-imports': 'off' },
  },
  {
    files: ['scripts/**', '**/bench/**', 'packages/*/src/cli.ts'],
    rules: { 'no-console': 'off', 'no-restricted-syntax': ['error', noDefaultExport, noLiteralSpread] },
  },
  {
    files: ['test/**', 'packages/*/test/**'],
    rules: {
      'no-restricted-syntax': ['error', noDefaultExport, noLiteralSpread],
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
);
