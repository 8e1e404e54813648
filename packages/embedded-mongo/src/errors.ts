/**
 * An error as MongoDB reports it: a numeric code, the name of the code, and additional reply fields
 * such as `errorLabels` and `keyValue`.
 */
export class MongoError extends Error {
  override readonly name = 'MongoError';
  readonly codeName: string;

  constructor(
    readonly code: number,
    message: string,
    readonly extra: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.codeName = codeNameOf(code);
  }
}

/** The names of the error codes that this server throws or that failpoints simulate. */
const CODE_NAMES: ReadonlyMap<number, string> = new Map([
  [1, 'InternalError'],
  [2, 'BadValue'],
  [8, 'UnknownError'],
  [9, 'FailedToParse'],
  [10, 'CannotMutateObject'],
  [13, 'Unauthorized'],
  [14, 'TypeMismatch'],
  [15, 'Overflow'],
  [16, 'InvalidLength'],
  [17, 'ProtocolError'],
  [20, 'IllegalOperation'],
  [22, 'InvalidBSON'],
  [26, 'NamespaceNotFound'],
  [27, 'IndexNotFound'],
  [28, 'PathNotViable'],
  [40, 'ConflictingUpdateOperators'],
  [43, 'CursorNotFound'],
  [48, 'NamespaceExists'],
  [50, 'MaxTimeMSExpired'],
  [52, 'DollarPrefixedFieldName'],
  [53, 'InvalidIdField'],
  [54, 'NotSingleValueField'],
  [56, 'EmptyFieldName'],
  [57, 'DottedFieldName'],
  [59, 'CommandNotFound'],
  [64, 'WriteConcernTimeout'],
  [66, 'ImmutableField'],
  [67, 'CannotCreateIndex'],
  [72, 'InvalidOptions'],
  [73, 'InvalidNamespace'],
  [79, 'UnknownReplWriteConcern'],
  [85, 'IndexOptionsConflict'],
  [86, 'IndexKeySpecsConflict'],
  [89, 'NetworkTimeout'],
  [91, 'ShutdownInProgress'],
  [100, 'UnsatisfiableWriteConcern'],
  [112, 'WriteConflict'],
  [115, 'CommandNotSupported'],
  [121, 'DocumentValidationFailure'],
  [168, 'InvalidPipelineOperator'],
  [171, 'CannotIndexParallelArrays'],
  [175, 'QueryPlanKilled'],
  [189, 'PrimarySteppedDown'],
  [197, 'InvalidIndexSpecificationOption'],
  [217, 'IncompleteTransactionHistory'],
  [224, 'QueryFeatureNotAllowed'],
  [225, 'TransactionTooOld'],
  [238, 'NotImplemented'],
  [239, 'SnapshotTooOld'],
  [241, 'ConversionFailure'],
  [246, 'SnapshotUnavailable'],
  [251, 'NoSuchTransaction'],
  [256, 'TransactionCommitted'],
  [262, 'ExceededTimeLimit'],
  [263, 'OperationNotSupportedInTransaction'],
  [9001, 'SocketException'],
  [10107, 'NotWritablePrimary'],
  [10334, 'BSONObjectTooLarge'],
  [11000, 'DuplicateKey'],
  [11600, 'InterruptedAtShutdown'],
  [11601, 'Interrupted'],
  [11602, 'InterruptedDueToReplStateChange'],
  [13435, 'NotPrimaryNoSecondaryOk'],
  [13436, 'NotPrimaryOrSecondary'],
]);

/**
 * Returns the name of an error code. As in MongoDB, a code without a name becomes `Location<code>`.
 */
function codeNameOf(code: number): string {
  return CODE_NAMES.get(code) ?? `Location${code}`;
}
