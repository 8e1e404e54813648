import type { RunningProgram } from '../../support/start-program.js';
import { causesOfLedger } from './causes-of-ledger.js';
import { causesOfPeople } from './causes-of-people.js';
import { causesOfProcesses } from './causes-of-processes.js';
import { causesOfProviders } from './causes-of-providers.js';
import { causesOfWork } from './causes-of-work.js';
import type { Causes, Scene } from './scene.js';

/**
 * Lists the causes of every alarm that works without Prometheus, with functions that start and end
 * each cause in a running copy, in order of their start. Causes that must last for a minute or more
 * come first.
 *
 * An asterisk in a description means that a stored time is moved. A dagger means that the report of
 * a process is simulated. test/signals/troubles.long.test.ts tests the real report.
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
