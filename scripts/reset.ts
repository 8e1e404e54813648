/** `npm run reset`: empties LOCAL_DIR, so that the next start behaves like the first one. */
import fs from 'node:fs';
import path from 'node:path';
import { stopLeftovers } from './supervisor/pid-files.js';
import { holderOf, localDirOf } from './start/local-dir.js';

const leftoverGraceMs = 10_000;
/** Names of the files that a copy creates. Other files in the folder are kept. */
const ownFilePattern =
  /^(demo\.json(\.next)?|ports\.json|start\.pid(\.\d+)?|inbox-secrets\.json|admin-password|pids|logs|mongodb|embedded-mongo|redis|simulator|redis-memory-server)$/;

async function main(): Promise<void> {
  const localDir = localDirOf(process.env);
  const holder = holderOf(localDir);
  if (holder !== null) {
    console.error(`A copy runs in ${localDir} (process ${holder}). Stop it first, then try again.`);
    process.exitCode = 1;
  } else if (!fs.existsSync(localDir)) {
    console.log(`${localDir} is empty already.`);
  } else {
    await stopLeftovers(localDir, leftoverGraceMs);
    const names = fs.readdirSync(localDir).filter((name) => ownFilePattern.test(name));
    for (const name of names) {
      fs.rmSync(path.join(localDir, name), { recursive: true, force: true });
    }
    console.log(`Emptied ${localDir}${names.length === 0 ? '' : ` (${names.join(', ')})`}.`);
  }
}

void main();
