/**
 * `npm run check:alerts`: checks and tests the rules of ops/prometheus with promtool. Prints a
 * notice and skips the check if promtool is missing (Debian package `prometheus`).
 */
import { spawnSync } from 'node:child_process';

const checks = [
  ['check', 'rules', 'ops/prometheus/rules.yml'],
  ['test', 'rules', 'ops/prometheus/tests.yml'],
];

for (const args of checks) {
  const { status, error, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  if (error && 'code' in error && error.code === 'ENOENT') {
    console.log('check:alerts: SKIPPED, because promtool is not on PATH (apt-get install prometheus).');
    break;
  }
  if (status !== 0) {
    console.error(`promtool ${args.join(' ')}: ${error?.message ?? ''}\n${stdout}${stderr}`);
    process.exitCode = 1;
  }
}
