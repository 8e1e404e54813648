import { processTypeNamed, type ProcessType } from '../processes.js';
import { processesNow, silentAfterMs, type Processes } from '../redis/presence.js';
import { fail, ok, warn, type Diagnosis } from './diagnosis.js';

const silence = `not heard for ${silentAfterMs / 1_000} s`;

/**
 * Processes that said that they live and are silent now: one that stands still keeps its connections, so that its queues look
 * served. One that was killed has none, and is forgotten at once as one that stopped in order.
 */
export async function diagnoseProcesses(): Promise<Diagnosis[]> {
  return [...(await processesNow())].map(([type, { alive, silent }]) => {
    const name = `process ${type}`;
    if (silent === 0) {
      return ok(name, `${alive} heard`);
    }
    const advice =
      'One that stands still neither works nor ends: kill it (kill -9) and start it anew. What it held is taken over by others of its kind.';
    return alive === 0
      ? fail(name, `${silent} ${silence}, and no other`, advice)
      : warn(name, `${silent} ${silence}, ${alive} heard`, advice);
  });
}

/** Whether all processes that could take jobs of this kind stand still. False where none of them has said that it lives. */
export function standStill(
  { name }: Pick<ProcessType, 'name'>,
  processes: ReadonlyMap<string, Processes>,
): boolean {
  const able = [...processes].filter(([type]) =>
    type.split('+').some((each) => each === 'all' || processTypeNamed(each)?.name === name),
  );
  return able.length > 0 && able.every(([, { alive }]) => alive === 0);
}
