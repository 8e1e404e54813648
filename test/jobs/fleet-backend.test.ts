import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { timeArgumentIndex } from '../../src/jobs/fleet-worker.js';

const commands = 'node_modules/bullmq/dist/cjs/commands';

describe("BullMQ's scripts", () => {
  for (const [name, place] of timeArgumentIndex) {
    it(`${name} reads the time from the argument that we replace`, () => {
      const file = readdirSync(commands).find((each) => new RegExp(`^${name}-\\d+\\.lua$`).test(each)) ?? '';
      const [keys = ''] = /\d+/.exec(file) ?? [];
      const head = readFileSync(`${commands}/${file}`, 'utf8');
      const [, argument = ''] = /ARGV\[(\d+)\]\s+timestamp/i.exec(head) ?? [];
      expect(place).to.equal(Number(keys) + Number(argument) - 1);
    });
  }

  it("that promote delayed jobs or plan runs never use the host's time", () => {
    const which = readdirSync(commands).filter((file) => {
      const text = file.endsWith('.lua') ? readFileSync(`${commands}/${file}`, 'utf8') : '';
      return /"includes\/(promoteDelayedJobs|fetchNextJob|getJobSchedulerEveryNextMillis)"/.test(text);
    });
    expect([...timeArgumentIndex.keys()]).to.include.members(which.map((file) => file.split('-')[0]));
  });
});
