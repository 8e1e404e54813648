/** LOCAL_DIR/admin-password: the console's password of this copy, random, for its owner alone to read. */
import fs from 'node:fs';
import path from 'node:path';

/** Undefined where this copy has made none yet. */
export function readAdminPassword(localDir: string): string | undefined {
  try {
    return fs.readFileSync(adminPasswordPath(localDir), 'utf8').trim();
  } catch {
    return undefined;
  }
}

export function keepAdminPassword(localDir: string, password: string): void {
  fs.writeFileSync(adminPasswordPath(localDir), `${password}\n`, { mode: 0o600 });
}

export function adminPasswordPath(localDir: string): string {
  return path.join(localDir, 'admin-password');
}
