/**
 * Skips tests that need a program other than Node, npm and Redis, if that program is missing. The
 * test run lists the missing programs at its end.
 */
import { spawnSync } from 'node:child_process';
import { findChromium } from '../console/support/chromium.js';
import { skipBecause } from './skip-because.js';

export type Tool = keyof typeof tools;

const tools = {
  cc: { isHere: () => canRun('cc', '--version'), install: 'apt-get install gcc libc6-dev' },
  chromium: { isHere: () => findChromium() !== null, install: 'apt-get install chromium, or set CHROMIUM' },
  git: { isHere: () => canRun('git', '--version'), install: 'apt-get install git' },
  go: { isHere: () => canRun('go', 'version'), install: 'https://go.dev/dl' },
  openssl: { isHere: () => canRun('openssl', 'version'), install: 'apt-get install openssl' },
  php: {
    isHere: () => canRun('php', '-r', 'exit(extension_loaded("curl") ? 0 : 1);'),
    install: 'apt-get install php-cli php-curl',
  },
  prometheus: {
    isHere: () => canRun('prometheus', '--version'),
    install: 'apt-get install prometheus',
  },
  python3: { isHere: () => canRun('python3', '--version'), install: 'apt-get install python3' },
};

const availableTools = new Map<Tool, boolean>();

export function hasTool(tool: Tool | null): boolean {
  if (tool === null) {
    return true;
  }
  const isInstalled = availableTools.get(tool) ?? tools[tool].isHere();
  availableTools.set(tool, isInstalled);
  return isInstalled;
}

/**
 * Skips the test or suite if the tool is missing. Call it in `before` or in the first line of a
 * test. Do not call it in the body of a `describe`, because mocha runs that even for skipped
 * suites.
 * @param tool The required tool. Null if no tool is needed.
 */
export function requireTool(context: Mocha.Context, tool: Tool | null): void {
  if (tool !== null && !hasTool(tool)) {
    skipBecause(context, `${tool} is missing: ${tools[tool].install}`);
  }
}

/**
 * Describes a suite that needs a tool. If the tool is missing, none of the suite's tests and hooks
 * run.
 */
export function describeWith(tool: Tool | null, title: string, body: (this: Mocha.Suite) => void): void {
  if (tool === null) {
    describe(title, body);
    return;
  }
  // If the `before` hook of a suite skips it, mocha still runs the `after` hooks of that suite, but
  // not those of nested suites.
  describe(`with ${tool}:`, () => {
    before(function () {
      requireTool(this, tool);
    });
    describe(title, body);
  });
}

function canRun(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}
