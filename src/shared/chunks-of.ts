/** A list in arrays of at most `size`, in its order. */
export function* splitIntoChunks<T>(list: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < list.length; start += size) {
    yield list.slice(start, start + size);
  }
}
