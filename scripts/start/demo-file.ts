/** LOCAL_DIR/demo.json: how other programs find a running copy and its demo accounts. */
import fs from 'node:fs';
import path from 'node:path';

export interface DemoAccount {
  username: string;
  api_key?: string;
  webhook_secret?: string;
  /** Of the operator, for the console. */
  password?: string;
}

export interface DemoFile {
  base_url: string;
  /** Null where there is none: in production. */
  simulator_url: string | null;
  inbox_url: string | null;
  mongodb_uri: string;
  redis_url: string;
  accounts: Record<string, DemoAccount>;
  /** `port` is null for processes that don't listen. */
  processes: Record<string, { pid: number; port: number | null }>;
}

/** Whoever reads the file sees the old or the new facts, never half of them. It holds keys: only its owner may read it. */
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

/** The file describes a running copy: it goes when the copy goes. */
export function removeDemoFile(localDir: string): void {
  fs.rmSync(demoFilePath(localDir), { force: true });
}

export function demoFilePath(localDir: string): string {
  return path.join(localDir, 'demo.json');
}
