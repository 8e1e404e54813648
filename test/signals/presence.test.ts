import { expect } from 'chai';
import { env } from '../../config/env.js';
import { releaseVersion } from '../../config/release.js';
import { diagnoseProcesses, diagnoseReleases } from '../../src/doctor/diagnose-processes.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { getConnectionName } from '../../src/redis/process-id.js';
import { describeProcesses, countProcesses, announcePresence } from '../../src/redis/presence.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';

describe('presence of processes', () => {
  const type = uniqueRef('type');

  before(() => connectRedis());
  after(() => disconnectRedis());

  it('reports live and silent processes, and forgets killed and stopped ones', async () => {
    const here = announcePresence(type);
    await eventually(
      'this process has a heartbeat',
      async () => (await countProcesses())?.get(type)?.alive === 1,
    );
    const [seconds] = await redis().time();
    const atMs = Number(seconds) * 1_000;
    const key = `${env.QUEUE_PREFIX}:processes`;
    const still = redis().duplicate({ connectionName: getConnectionName('still') });
    await eventually('the connection exists', async () =>
      String(await redis().client('LIST')).includes(':process:still'),
    );
    // A silent process counts for as long as it has a connection, however long it has been silent.
    await redis().zadd(key, atMs - 300_000, `${type}:still`, atMs - 30_000, `${type}:killed`);
    expect((await countProcesses())?.get(type)).to.deep.equal({ alive: 1, silent: 1 });
    await here.stop();
    await disconnectRedis();
    await connectRedis();
    expect((await countProcesses())?.get(type)).to.deep.equal({ alive: 0, silent: 1 });
    still.disconnect();
    await eventually(
      'it is forgotten after its kill',
      async () => (await countProcesses())?.has(type) === false,
    );
    await redis().zrem(key, `${type}:still`, `${type}:killed`);
  });

  it('reports release, start and memory; a process of an earlier release reports none', async () => {
    const own = uniqueRef('type');
    const here = announcePresence(own);
    const key = `${env.QUEUE_PREFIX}:processes`;
    const [seconds] = await redis().time();
    await redis().zadd(key, Number(seconds) * 1_000, `${own}:earlier`);
    const ofType = async () => (await describeProcesses())?.filter((each) => each.type === own);
    const [earlier, said] = await eventually('both processes are listed', async () => {
      const found = (await ofType()) ?? [];
      return found.length === 2 && found;
    });
    expect(earlier).to.include({ id: 'earlier', version: null, startedAt: null, memoryBytes: null });
    expect(said).to.include({ version: releaseVersion, isSilent: false });
    expect(said?.memoryBytes).to.be.greaterThan(1e7);
    expect(Number(said?.startedAt)).to.be.closeTo(Date.now() - process.uptime() * 1_000, 5_000);
    expect(Number(said?.lastHeardAt)).to.be.closeTo(Date.now(), 10_000);
    // The start of the earlier process is unknown, and this process has just started. So two
    // releases are no problem yet.
    const checks = await diagnoseProcesses();
    const releases = checks.find(({ name }) => name === 'releases');
    expect(releases?.status).to.equal('ok');
    expect(releases?.detail).to.include(own).and.to.include('several at once');
    await here.stop();
    await redis().zrem(key, `${own}:earlier`);
    await disconnectRedis();
    await connectRedis();
    expect(await ofType()).to.deep.equal([]);
    expect(await redis().keys(`${env.QUEUE_PREFIX}:process-says:${said?.id ?? ''}`)).to.deep.equal([]);
  });

  it('reports several releases at once only if they last', () => {
    const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000);
    const buildProcess = (version: string | null, minutesAgo: number | null, isSilent = false) => ({
      id: uniqueRef('p'),
      type: 'web',
      version,
      isSilent,
      lastHeardAt: at(0),
      memoryBytes: 1,
      tellsAlarms: null,
      startedAt: minutesAgo === null ? null : at(minutesAgo),
      troubles: null,
    });
    const statusOf = (...processes: ReturnType<typeof buildProcess>[]) =>
      diagnoseReleases(processes).map(({ status }) => status);
    expect(statusOf()).to.deep.equal([]);
    expect(statusOf(buildProcess('1', 90), buildProcess('1', 1))).to.deep.equal(['ok']);
    expect(statusOf(buildProcess('1', 90), buildProcess('2', 14))).to.deep.equal(['ok']);
    expect(statusOf(buildProcess('1', 90), buildProcess('2', 16))).to.deep.equal(['warn']);
    expect(
      statusOf(buildProcess('1', 90), buildProcess('2', 16), buildProcess('2', 0)),
      'one just started',
    ).to.deep.equal(['warn']);
    expect(statusOf(buildProcess(null, null), buildProcess('2', 16))).to.deep.equal(['warn']);
    expect(statusOf(buildProcess('1', 90, true), buildProcess('2', 16)), 'it is silent').to.deep.equal([
      'ok',
    ]);
    const [said] = diagnoseReleases([buildProcess('1', 90), buildProcess('2', 20), buildProcess('2', 20)]);
    expect(said?.detail).to.equal('several at once for 20 min: 1: web; 2: web 2');
  });
});
