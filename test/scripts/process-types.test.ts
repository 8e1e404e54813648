import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { serviceSpecs, workerNames } from '../../scripts/start/processes.js';

const services = serviceSpecs({}).map(({ name, args }) => ({ name, command: `node ${args.join(' ')}` }));

describe('process types of the service', () => {
  it('include every kind of worker', () => {
    // Without arguments, the program prints its kinds of processes.
    const { stderr } = spawnSync(process.execPath, ['dist/workers/run.js'], { encoding: 'utf8' });
    expect(/<(.+)\|all>/.exec(stderr)?.[1]?.split('|')).to.have.members([...workerNames]);
  });

  it('match between the Procfile and npm start', () => {
    const types = readFileSync('Procfile', 'utf8')
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .map((line) => /^([\w-]+): (.+)$/.exec(line)?.slice(1) ?? [line])
      .map(([name, command]) => ({ name, command }));
    expect(types).to.deep.include({ name: 'release', command: 'node dist/scripts/migrate.js' });
    // `worker` runs every kind of work in one process, for small installations.
    const rest = types.filter(({ name }) => name !== 'release' && name !== 'worker');
    expect(rest).to.have.deep.members(services);
  });

  it('match in docker-compose.yml', () => {
    const compose = readFileSync('docker-compose.yml', 'utf8');
    for (const { name, command } of services.filter((each) => each.name !== 'web')) {
      const quoted = command.split(' ').map((word) => `'${word}'`);
      expect(compose).to.contain(`  ${name}:\n    <<: *worker\n    command: [${quoted.join(', ')}]\n`);
    }
    expect(compose.match(/<<: \*worker/g)).to.have.length(services.length - 1);
  });

  it('match in app.json', () => {
    const { formation } = JSON.parse(readFileSync('app.json', 'utf8')) as {
      formation: Record<string, { quantity: number }>;
    };
    expect(Object.keys(formation)).to.have.members([...services.map(({ name }) => name), 'worker']);
    const started = Object.entries(formation).filter(([, { quantity }]) => quantity > 0);
    // By default, two small machines run all kinds of work.
    expect(started.map(([name]) => name)).to.deep.equal(['web', 'worker']);
  });
});
