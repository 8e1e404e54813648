import { MongoError } from '../errors.js';

/**
 * What MongoDB has and this server has not: refused by name, where an unknown name would be called a mistake of the
 * client's. The code is MongoDB's for a feature that is not implemented, or the one by which it says that a deployment
 * lacks the feature.
 */
const NOT_IMPLEMENTED = 238;
const NO_CHANGE_STREAMS = 40573;
const NO_SEARCH = 31082;

export const refusedStages: Readonly<Record<number, readonly string[]>> = {
  [NOT_IMPLEMENTED]: [
    '$bucket',
    '$bucketAuto',
    '$collStats',
    '$currentOp',
    '$densify',
    '$documents',
    '$fill',
    '$geoNear',
    '$graphLookup',
    '$indexStats',
    '$listLocalSessions',
    '$listSampledQueries',
    '$listSessions',
    '$planCacheStats',
    '$querySettings',
    '$queryStats',
    '$rankFusion',
    '$redact',
    '$sample',
    '$score',
    '$scoreFusion',
    '$setWindowFields',
    '$shardedDataDistribution',
    '$unionWith',
  ],
  [NO_CHANGE_STREAMS]: ['$changeStream', '$changeStreamSplitLargeEvent'],
  [NO_SEARCH]: ['$listSearchIndexes', '$search', '$searchMeta', '$vectorSearch'],
};

export const refusedAccumulators: Readonly<Record<number, readonly string[]>> = {
  [NOT_IMPLEMENTED]: [
    '$accumulator',
    '$bottom',
    '$bottomN',
    '$concatArrays',
    '$firstN',
    '$lastN',
    '$maxN',
    '$median',
    '$minN',
    '$percentile',
    '$setUnion',
    '$stdDevPop',
    '$stdDevSamp',
    '$top',
    '$topN',
  ],
};

export const refusedOperators: Readonly<Record<number, readonly string[]>> = {
  [NOT_IMPLEMENTED]: [
    '$accumulator',
    '$acos',
    '$acosh',
    '$allElementsTrue',
    '$anyElementTrue',
    '$arrayToObject',
    '$asin',
    '$asinh',
    '$atan',
    '$atan2',
    '$atanh',
    '$binarySize',
    '$bitAnd',
    '$bitNot',
    '$bitOr',
    '$bitXor',
    '$bsonSize',
    '$convert',
    '$cos',
    '$cosh',
    '$dateAdd',
    '$dateDiff',
    '$dateFromParts',
    '$dateFromString',
    '$dateSubtract',
    '$dateToParts',
    '$degreesToRadians',
    '$exp',
    '$firstN',
    '$function',
    '$getField',
    '$indexOfArray',
    '$indexOfBytes',
    '$indexOfCP',
    '$isoDayOfWeek',
    '$isoWeek',
    '$isoWeekYear',
    '$lastN',
    '$ln',
    '$log',
    '$log10',
    '$ltrim',
    '$maxN',
    '$median',
    '$meta',
    '$minN',
    '$objectToArray',
    '$percentile',
    '$pow',
    '$radiansToDegrees',
    '$rand',
    '$range',
    '$regexFind',
    '$regexFindAll',
    '$regexMatch',
    '$replaceAll',
    '$replaceOne',
    '$reverseArray',
    '$rtrim',
    '$setDifference',
    '$setEquals',
    '$setIntersection',
    '$setIsSubset',
    '$setUnion',
    '$sigmoid',
    '$sin',
    '$sinh',
    '$sortArray',
    '$sqrt',
    '$stdDevPop',
    '$stdDevSamp',
    '$strLenBytes',
    '$strcasecmp',
    '$substr',
    '$substrBytes',
    '$tan',
    '$tanh',
    '$toHashedIndexKey',
    '$toUUID',
    '$trim',
    '$tsIncrement',
    '$tsSecond',
    '$unsetField',
    '$week',
    '$zip',
  ],
};

/** For each name a compiler that throws. */
export function refusing(
  namesByCode: Readonly<Record<number, readonly string[]>>,
): (readonly [name: string, refuse: () => never])[] {
  return Object.entries(namesByCode).flatMap(([code, names]) =>
    names.map((name) => {
      const refuse = (): never => {
        throw new MongoError(Number(code), `${name} is not supported by embedded-mongo`);
      };
      return [name, refuse] as const;
    }),
  );
}
