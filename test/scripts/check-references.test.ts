import { execFile } from 'node:child_process';
import { mkdtemp, rm, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { deadReferences } from '../../scripts/references/dead-references.js';
import { anchorsOf } from '../../scripts/references/markdown.js';
import { describeRepository, readRepository } from '../../scripts/references/repository.js';
import { requireTool } from '../support/require-tool.js';

const good: Record<string, string> = {
  'README.md':
    '# Service\n\n[Money](docs/money.md#the-rules), [rooms](src), [out](https://example.org/x.md)\n',
  'docs/money.md':
    '# Money\n\n## The `rules`\n\n## Again\n\n## Again\n\n[README](../README.md) and money.md\n',
  'docs/decisions/001-a-reason.md': '# 001: A reason\n',
  'src/app.ts':
    '// docs/money.md#again-1, docs/money.md, "The rules", decision 001, app.ts, `topup account create <name>`\n',
  'src/other.ts':
    "import './app.js'; // npm run build, src/<room>/app.ts, test/**/*.test.ts, 2 decisions, dist/src/x.js\n",
};

/**
 * Returns the problems that a check of the good repository reports after this line is added to this
 * file.
 */
function problemsWith(file: string, line: string): string[] {
  const texts = new Map(Object.entries(good));
  texts.set(file, `${texts.get(file) ?? ''}${line}\n`);
  const repository = describeRepository({
    files: [...texts.keys(), 'test/app.test.ts'],
    texts,
    npmScripts: new Set(['build']),
    topupCommands: new Map([['account', new Set(['create'])]]),
  });
  return deadReferences(repository).map((each) => `${each.file}:${each.line}: ${each.problem}`);
}

describe('npm run check:references', () => {
  it('accepts a repository without dead references', () => {
    expect(problemsWith('README.md', '')).to.deep.equal([]);
  });

  it('refuses document lines over 100 columns, except tables, links and code', () => {
    const wide = 'x'.repeat(101);
    expect(problemsWith('docs/money.md', wide)).to.deep.equal([
      'docs/money.md:10: the line has more than 100 columns',
    ]);
    for (const allowed of [`| ${wide} |`, `[${wide}](../README.md)`, `\`\`\`\n${wide}\n\`\`\``]) {
      expect(problemsWith('docs/money.md', allowed), allowed).to.deep.equal([]);
    }
    expect(problemsWith('src/app.ts', `// ${wide}`)).to.deep.equal([]);
  });

  const planted: [name: string, file: string, line: string, problem: string][] = [
    ['a link to a missing file', 'README.md', '[x](docs/gone.md)', 'the link leads to docs/gone.md'],
    [
      'a link to a missing section',
      'README.md',
      '[x](docs/money.md#no)',
      'docs/money.md#no, and there is no',
    ],
    ['a link to a missing section of the same page', 'docs/money.md', '[x](#no)', 'docs/money.md#no'],
    ['a missing document', 'src/app.ts', '// see docs/gone.md', 'docs/gone.md does not exist'],
    ['a document without its directory', 'src/app.ts', '// money.md', 'money.md does not exist'],
    ['a bare name of a document', 'src/app.ts', '// prices.md, rule 1', 'prices.md does not exist'],
    ['a missing path', 'docs/money.md', 'in src/gone/nowhere.ts.', 'src/gone/nowhere.ts does not exist'],
    ['a missing source file', 'src/app.ts', '// see gone.ts', 'gone.ts does not exist'],
    [
      'a missing section by its anchor',
      'src/app.ts',
      '// docs/money.md#no',
      'docs/money.md has no section #no',
    ],
    [
      'a missing section by its title',
      'src/app.ts',
      '// docs/money.md, "No"',
      'docs/money.md has no section "No"',
    ],
    ['a missing decision', 'src/app.ts', '// decision 099', 'there is no decision 099'],
    ['a missing decision in a list', 'src/app.ts', '// decisions 001 and 099', 'there is no decision 099'],
    ['a missing decision by its path', 'src/app.ts', '// docs/decisions/098', 'there is no decision 098'],
    ['a numbered section', 'src/app.ts', '// interface 4.2', 'leads nowhere'],
    ['a numbered part', 'docs/money.md', 'the codes of part 7', 'leads nowhere'],
    ['a reference to an issue', 'src/app.ts', '// issue "Providers", 3', 'leads nowhere'],
    ['a missing npm script', 'README.md', '`npm run vanish`', 'there is no npm script vanish'],
    ['a missing command', 'README.md', '`topup teleport`', 'there is no command topup teleport'],
    ['a missing subcommand', 'README.md', '`topup account teleport`', 'topup account teleport'],
  ];
  for (const [name, file, line, problem] of planted) {
    it(`finds ${name} and names its line`, () => {
      const found = problemsWith(file, line);
      const at = (good[file] ?? '').split('\n').length;
      expect(found).to.have.length(1);
      expect(found[0]).to.include(`${file}:${at}: `).and.include(problem);
    });
  }

  it('finds two decisions with the same number', () => {
    expect(problemsWith('docs/decisions/001-another.md', '# 001')).to.deep.equal([
      'docs/decisions:1: there are two decisions 001',
    ]);
  });

  it('checks only the links of the changelog', () => {
    expect(problemsWith('CHANGELOG.md', 'npm run vanish, src/gone/nowhere.ts, decision 099')).to.deep.equal(
      [],
    );
    expect(problemsWith('CHANGELOG.md', '[x](docs/gone.md)')).to.have.length(1);
  });

  it('generates the same anchors as GitHub', () => {
    const markdown =
      '# ref_id\n## Codes & *states*\n```\n# no heading\n```\n## `max_price`, [linked](x)\n## Codes & states\n';
    expect([...anchorsOf(markdown)]).to.deep.equal([
      'ref_id',
      'codes--states',
      'max_price-linked',
      'codes--states-1',
    ]);
  });

  it('reads a clone with new files and without ignored files', async function () {
    requireTool(this, 'git');
    const root = await mkdtemp(join(tmpdir(), 'references-'));
    try {
      await promisify(execFile)('git', ['init', '--quiet'], { cwd: root });
      await mkdir(join(root, 'src'));
      await writeFile(join(root, '.gitignore'), 'dist/\n');
      await writeFile(join(root, 'package.json'), '{"scripts":{"build":"true"}}');
      await writeFile(join(root, 'src/app.ts'), '// docs/gone.md\n');
      await mkdir(join(root, 'dist'));
      await writeFile(join(root, 'dist/app.js'), '// docs/gone.md\n');
      const repository = readRepository(root);
      expect([...repository.npmScripts]).to.deep.equal(['build']);
      expect(repository.topupCommands.get('ledger')).to.include('verify');
      expect(deadReferences(repository)).to.deep.equal([
        { file: 'src/app.ts', line: 1, problem: 'docs/gone.md does not exist' },
      ]);
    } finally {
      await rm(root, { recursive: true });
    }
  });
});
