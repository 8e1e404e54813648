/**
 * LOCAL_DIR/admin-password: the random console password of this copy, readable by its owner only.
 */
import fs from 'node:fs';
import path from 'node:path';

/** Returns the password. Undefined if this copy has none yet. */
export function readAdminPassword(localDir: string): string | undefined {
  try {
    return fs.readFileSync(adminPasswordPath(localDir), 'utf8').trim();
  } catch {
    return undefined;
  }
}

export function writeAdminPassword(localDir: string, password: string): void {
  fs.writeFileSync(adminPasswordPath(localDir), `${password}\n`, { mode: 0o600 });
}

export function adminPasswordPath(localDir: string): string {
  return path.join(localDir, 'admin-password');
}
