/** LOCAL_DIR/demo.json: lets other programs find a running copy and its demo accounts. */
import fs from 'node:fs';
import path from 'node:path';

export interface DemoAccount {
  username: string;
  api_key?: string;
  webhook_secret?: string;
  /** Console password of the operator. */
  password?: string;
}

export interface DemoFile {
  base_url: string;
  /** Null in production. */
  simulator_url: string | null;
  inbox_url: string | null;
  mongodb_uri: string;
  redis_url: string;
  accounts: Record<string, DemoAccount>;
  /** `port` is null for processes that do not listen. */
  processes: Record<string, { pid: number; port: number | null }>;
}

/** Replaces the file atomically. It contains keys, so only its owner may read it. */
export function writeDemoFile(localDir: string, facts: DemoFile): void {
  const file = demoFilePath(localDir);
  const next = `${file}.next`;
  fs.writeFileSync(next, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 });
  fs.renameSync(next, file);
}

export function readDemoFile(localDir: string): DemoFile | null {
  try {
    return JSON.parse(fs.readFileSync(demoFilePath(localDir), 'utf8')) as DemoFile;
  } catch {
    return null;
  }
}

/** Removes the file, which exists only while the copy runs. */
export function removeDemoFile(localDir: string): void {
  fs.rmSync(demoFilePath(localDir), { force: true });
}

export function demoFilePath(localDir: string): string {
  return path.join(localDir, 'demo.json');
}
