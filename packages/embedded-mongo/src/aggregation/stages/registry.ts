import { MongoError } from '../../errors.js';
import type { StageCompiler } from '../stage.js';
import { compileBucket } from './bucket.js';
import { compileBucketAuto } from './bucket-auto.js';
import { combiningStages } from './combining.js';
import { compileFill } from './fill.js';
import { compileGraphLookup } from './graph-lookup.js';
import { compileGroup } from './group.js';
import { compileLookup } from './lookup.js';
import { simpleStages } from './simple.js';
import { compileUnwind } from './unwind.js';
import { compileSetWindowFields } from './window.js';

const unsupported: readonly (readonly [name: string, code: number])[] = [
  // The code of a deployment that has no change streams.
  ['$changeStream', 40573],
  ['$changeStreamSplitLargeEvent', 40573],
  ['$geoNear', 238],
  ['$search', 31082],
  ['$searchMeta', 31082],
  ['$vectorSearch', 31082],
  ['$collStats', 238],
  ['$currentOp', 238],
  ['$densify', 238],
  ['$indexStats', 238],
  ['$listLocalSessions', 238],
  ['$listSampledQueries', 238],
  ['$listSearchIndexes', 238],
  ['$listSessions', 238],
  ['$planCacheStats', 238],
  ['$querySettings', 238],
  ['$queryStats', 238],
  ['$rankFusion', 238],
  ['$scoreFusion', 238],
  ['$score', 238],
  ['$shardedDataDistribution', 238],
];

/** All stages but `$out` and `$merge`, by name. */
export const stages: ReadonlyMap<string, StageCompiler> = new Map<string, StageCompiler>([
  ...Object.entries(simpleStages),
  ...Object.entries(combiningStages),
  ['$bucket', compileBucket],
  ['$bucketAuto', compileBucketAuto],
  ['$fill', compileFill],
  ['$graphLookup', compileGraphLookup],
  ['$group', compileGroup],
  ['$lookup', compileLookup],
  ['$setWindowFields', compileSetWindowFields],
  ['$unwind', compileUnwind],
  ...unsupported.map(([name, code]): [string, StageCompiler] => [
    name,
    () => {
      throw new MongoError(code, `The ${name} stage is not supported by embedded-mongo`);
    },
  ]),
]);
