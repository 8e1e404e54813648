import tseslint from 'typescript-eslint';

// Each block checks rules of the house style.
const noDefaultExport = {
  selector: 'ExportDefaultDeclaration',
  message: 'Use named exports: a name that can be searched for everywhere.',
};
const noProcessEnv = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Read configuration through config/env.ts, which validates all of it at start.',
};

export default tseslint.config(
  {
    ignores: ['**/dist/**', 'node_modules', 'coverage', '.local', '**/*.mjs', '**/*.cjs', 'eslint.config.js'],
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
      'no-restricted-syntax': ['error', noDefaultExport, noProcessEnv],
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
    files: ['config/env.ts'],
    rules: { 'no-restricted-syntax': ['error', noDefaultExport] },
  },
  {
    files: ['scripts/**', '**/bench/**', 'packages/*/src/cli.ts'],
    rules: { 'no-console': 'off', 'no-restricted-syntax': ['error', noDefaultExport] },
  },
  {
    files: ['test/**', 'packages/*/test/**'],
    rules: {
      'no-restricted-syntax': ['error', noDefaultExport],
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
