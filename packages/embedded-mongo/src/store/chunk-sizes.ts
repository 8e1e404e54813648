/**
 * The numbers of entries in the chunks of a sorted list, as a Fenwick tree. Changing the size of a
 * chunk and counting the entries before a chunk both take O(log chunks) steps.
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

/** Adds a change to the size of a chunk. */
export function resizeChunk(tree: ChunkSizes, chunk: number, change: number): void {
  for (let node = chunk + 1; node < tree.length; node += node & -node) {
    tree[node] = (tree[node] ?? 0) + change;
  }
}

/** Returns the number of entries in all chunks before this one. */
export function countEntriesBefore(tree: ChunkSizes, chunk: number): number {
  let entries = 0;
  for (let node = chunk; node > 0; node -= node & -node) {
    entries += tree[node] ?? 0;
  }
  return entries;
}
