/**
 * How many entries the chunks of a sorted list hold, as a Fenwick tree: the number of entries before a chunk, and its
 * change, take as many steps as the number of chunks has binary digits.
 */
export type ChunkSizes = number[];

export function chunkSizesOf(sizes: readonly number[]): ChunkSizes {
  const tree = [0, ...sizes];
  for (let node = 1; node < tree.length; node++) {
    const parent = node + (node & -node);
    if (parent < tree.length) {
      tree[parent] = (tree[parent] ?? 0) + (tree[node] ?? 0);
    }
  }
  return tree;
}

/** Notes that a chunk has grown, or shrunk. */
export function resizeChunk(tree: ChunkSizes, chunk: number, change: number): void {
  for (let node = chunk + 1; node < tree.length; node += node & -node) {
    tree[node] = (tree[node] ?? 0) + change;
  }
}

/** The number of entries in all chunks before this one. */
export function entriesBefore(tree: ChunkSizes, chunk: number): number {
  let entries = 0;
  for (let node = chunk; node > 0; node -= node & -node) {
    entries += tree[node] ?? 0;
  }
  return entries;
}
