import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { createOutput } from '../../scripts/supervisor/output.js';

describe('terminal output of many processes', () => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'topup-output-'));
  after(() => {
    fs.rmSync(dir, { recursive: true });
  });
  const entry = (level: string, message: string, n: number) => JSON.stringify({ level, message, n });

  it('prints a repeated complaint once and logs every line', () => {
    const printed: string[] = [];
    const output = createOutput(dir, (text) => printed.push(text));
    for (let n = 0; n < 3; n++) {
      output.line('web', entry('warn', 'Redis is slow', n));
      output.line('web', entry('info', 'purchase accepted', n));
    }
    output.line('worker', entry('warn', 'Redis is slow', 0));
    output.hush();
    output.line('web', entry('info', 'purchase accepted', 3));
    output.close();
    expect(printed.filter((each) => each.includes('Redis is slow'))).to.have.length(2);
    expect(printed.filter((each) => each.includes('purchase accepted'))).to.have.length(3);
    expect(fs.readFileSync(path.join(dir, 'web.log'), 'utf8').trim().split('\n')).to.have.length(7);
  });
});
