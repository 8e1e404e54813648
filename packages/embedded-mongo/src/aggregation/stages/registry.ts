import { refusedStages, refusing } from '../refused.js';
import type { StageCompiler } from '../stage.js';
import { combiningStages } from './combining.js';
import { compileGroup } from './group.js';
import { compileLookup } from './lookup.js';
import { simpleStages } from './simple.js';
import { compileUnwind } from './unwind.js';

/** All stages but `$out` and `$merge`, by name. */
export const stages: ReadonlyMap<string, StageCompiler> = new Map<string, StageCompiler>([
  ...refusing(refusedStages),
  ...Object.entries({
    ...simpleStages,
    ...combiningStages,
    $group: compileGroup,
    $lookup: compileLookup,
    $unwind: compileUnwind,
  }),
]);
