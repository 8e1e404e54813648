import { open, rename, unlink } from 'node:fs/promises';
import { encodeBlock } from './block.js';
import { deleteFiles, listJournalFiles, snapshotPath, syncDirectory } from './journal-files.js';

const BLOCK_BYTES = 1 << 20;

/**
 * Writes the entries as `snapshot.<generation>` and resolves to its size in bytes. The file is
 * renamed last. All older files are obsolete from then on.
 */
export async function writeSnapshot(
  { directory, generation, sync }: { directory: string; generation: number; sync: boolean },
  entries: Iterable<Buffer>,
): Promise<number> {
  const path = snapshotPath(directory, generation);
  const draft = `${path}.tmp`;
  const file = await open(draft, 'w');
  let bytes = 0;
  let sequence = 0;
  const writeBlock = async (batch: Buffer[]): Promise<void> => {
    const block = encodeBlock(sequence, batch);
    await file.writeFile(block);
    sequence += 1;
    bytes += block.length;
  };
  try {
    let batch: Buffer[] = [];
    let batchBytes = 0;
    for (const entry of entries) {
      batch.push(entry);
      batchBytes += entry.length;
      if (batchBytes >= BLOCK_BYTES) {
        await writeBlock(batch);
        batch = [];
        batchBytes = 0;
      }
    }
    batch.push(Buffer.alloc(0));
    await writeBlock(batch);
    if (sync) {
      await file.sync();
    }
  } catch (error) {
    await file.close();
    await unlink(draft);
    throw error;
  }
  await file.close();
  await rename(draft, path);
  syncDirectory(directory);
  deleteFiles(listJournalFiles(directory).obsolete);
  return bytes;
}
