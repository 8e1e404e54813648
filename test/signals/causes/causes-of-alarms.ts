import type { RunningProgram } from '../../support/start-program.js';
import { causesOfLedger } from './causes-of-ledger.js';
import { causesOfPeople } from './causes-of-people.js';
import { causesOfProcesses } from './causes-of-processes.js';
import { causesOfProviders } from './causes-of-providers.js';
import { causesOfWork } from './causes-of-work.js';
import type { Causes, Scene } from './scene.js';

/**
 * Starts and ends of each alarm that works without Prometheus, in a running copy, in the order of
 * their start. Causes that must stand for a minute or more come first. An asterisk marks a moved
 * time. A dagger marks a played report of a process, which test/signals/troubles.long.test.ts
 * covers for real.
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
