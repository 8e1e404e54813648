/**
 * Reports that the data directory cannot be used. The message contains the file, the reason and the
 * remedy.
 */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
}

const REASONS = new Map([
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['ENOTDIR', 'a part of the path is a file'],
  ['EEXIST', 'the path is a file'],
  ['EFBIG', 'the file size limit of this process is reached'],
]);

/** Describes the error of a failed system call, for example `the disk is full (ENOSPC)`. */
export function describeSystemError(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const reason = REASONS.get(code);
  return reason === undefined ? error.message : `${reason} (${code})`;
}
