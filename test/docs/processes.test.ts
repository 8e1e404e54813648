import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { processTypes } from '../../src/processes.js';
import { readTableUnder } from '../support/docs-table.js';

const quoted = (name: string) => `\`${name}\``;

describe('tables of docs/reference/processes.md', () => {
  let text: string;

  before(async () => {
    text = await readFile('docs/reference/processes.md', 'utf8');
  });

  it('have exactly the process types with command, queues and purpose', () => {
    const expected = processTypes.map(({ name, description, handlers }) => {
      const queues = new Set(handlers.map(({ job }) => quoted(job.queue.name)));
      return [name, quoted(`node dist/workers/run.js ${name}`), [...queues].join(', '), description];
    });
    const [web, ...workers] = readTableUnder('Processes', text);
    expect(web?.slice(0, 2)).to.deep.equal(['web', '`node dist/src/server.js`']);
    // The last cell describes the effect if the process is missing, which cannot be compared.
    expect(workers.map((cells) => cells.slice(0, 4))).to.deep.equal(expected);
  });

  it('have exactly the scheduled jobs with their period', () => {
    const expected = processTypes
      .flatMap(({ handlers }) => handlers)
      .flatMap(({ job: { name, clock } }) => (clock ? [[quoted(name), `${clock.everyMs / 1_000} s`]] : []));
    expect(expected).not.to.deep.equal([]);
    expect(readTableUnder('The clock', text).map((cells) => cells.slice(0, 2))).to.deep.equal(expected);
  });
});

it('README.md names every process type', async () => {
  const text = await readFile('README.md', 'utf8');
  const line = text.split('\n').find((each) => each.startsWith('| a worker |')) ?? '';
  const names = processTypes.map(({ name }) => name);
  expect(line.match(/(?<=run\.js |`)[\w-]+(?=`)/g)).to.deep.equal(names);
});

it('the job in the guide matches the code', async () => {
  const text = await readFile('docs/guides/contribute/add-a-job.md', 'utf8');
  const shown = [...text.matchAll(/```ts\n\/\/ (\S+)\n([\s\S]*?)\n```/g)];
  expect(shown).to.have.length(3);
  for (const [, file = '', code = ''] of shown) {
    expect(await readFile(file, 'utf8'), file).to.include(code);
  }
});
