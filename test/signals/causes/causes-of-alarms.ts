import type { RunningProgram } from '../../support/start-program.js';
import { causesOfLedger } from './causes-of-ledger.js';
import { causesOfPeople } from './causes-of-people.js';
import { causesOfProcesses } from './causes-of-processes.js';
import { causesOfProviders } from './causes-of-providers.js';
import { causesOfWork } from './causes-of-work.js';
import type { Causes, Scene } from './scene.js';

/**
 * What begins and ends each alarm that is told without Prometheus, in a running copy of the service, in the order in which they are
 * to begin: what must stand for a minute and more by itself comes first. An asterisk: a time was moved that nobody can wait for; a dagger: what a process says is played (test/signals/troubles.long.test.ts has it said).
 */
export function causesOfAlarms(
  scene: Scene,
  { webhooks, otherKey }: { webhooks: RunningProgram; otherKey: string },
): Causes {
  const people = causesOfPeople(scene, otherKey);
  const work = causesOfWork(scene, webhooks);
  const others = [causesOfProviders(scene), causesOfProcesses(scene), causesOfLedger(scene)];
  const all = [people, work, ...others];
  const early = [people.causes.slice(0, 1), work.causes.slice(0, 4)].flat();
  const late = work.causes.slice(-1);
  const rest = all
    .flatMap(({ causes }) => causes)
    .filter((each) => !early.includes(each) && !late.includes(each));
  return {
    causes: [...early, ...rest, ...late],
    stop: () => Promise.all(all.map((each) => each.stop())),
  };
}
