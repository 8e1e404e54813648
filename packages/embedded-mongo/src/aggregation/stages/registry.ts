import { refusedStages, createRefusals } from '../unsupported.js';
import type { StageCompiler } from '../stage.js';
import { compileFacet } from './facet.js';
import { compileGroup } from './group.js';
import { compileLookup } from './lookup.js';
import { simpleStages } from './simple.js';
import { compileUnwind } from './unwind.js';

/** All stages except `$out` and `$merge`, by name. */
export const stages: ReadonlyMap<string, StageCompiler> = new Map<string, StageCompiler>([
  ...createRefusals(refusedStages),
  ...Object.entries({
    ...simpleStages,
    $facet: compileFacet,
    $group: compileGroup,
    $lookup: compileLookup,
    $unwind: compileUnwind,
  }),
]);
