import { expect } from 'chai';
import { digiflazzTraits } from '../../src/providers/digiflazz.js';
import { getNextPollAt, type PollState } from '../../src/providers/status-check-schedule.js';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/**
 * Returns the times of all polls of an order that stays pending, in milliseconds after it was sent.
 */
function pollsOf(
  mode: 'sandbox' | 'live',
  traits: { inquiryMinIntervalMs: number; inquiryMaxAgeMs: number },
  random: () => number,
): number[] {
  const sentAt = new Date('2026-01-01T00:00:00Z');
  const polls: number[] = [];
  let state: PollState = { sentAt, checks: 0, lastCheckAt: null };
  for (
    let at = getNextPollAt(state, traits, { mode, random });
    at;
    at = getNextPollAt(state, traits, { mode, random })
  ) {
    polls.push(at.getTime() - sentAt.getTime());
    state = { ...state, checks: state.checks + 1, lastCheckAt: at };
  }
  return polls;
}

describe('polling schedule', () => {
  const eager = { inquiryMinIntervalMs: 0, inquiryMaxAgeMs: 24 * hour };

  it('live: after 5 s, 15 s, 1, 5, 15 min, then hourly, up to the maximum age', () => {
    const polls = pollsOf('live', eager, () => 0);
    const gaps = polls.map((at, index) => at - (polls[index - 1] ?? 0));
    expect(gaps.slice(0, 5)).to.deep.equal([5 * second, 15 * second, minute, 5 * minute, 15 * minute]);
    expect(new Set(gaps.slice(5))).to.deep.equal(new Set([hour]));
    expect(polls.at(-1)).to.be.within(23 * hour, 24 * hour);
    expect(polls).to.have.length(5 + 23);
  });

  it('sandbox: after 1, 2, 4, 8 s, then every 10 s', () => {
    const polls = pollsOf('sandbox', { ...eager, inquiryMaxAgeMs: minute }, () => 0);
    expect(polls).to.deep.equal([1, 3, 7, 15, 25, 35, 45, 55].map((s) => s * second));
  });

  it('the jitter adds at most a tenth and never subtracts', () => {
    const early = pollsOf('live', eager, () => 0);
    const late = pollsOf('live', eager, () => 0.999_999);
    late.forEach((at, index) => expect(at).to.be.within(early[index] ?? 0, (early[index] ?? 0) * 1.1 + 1));
  });

  it("keeps the provider's minimum interval if the schedule is shorter", () => {
    for (const mode of ['sandbox', 'live'] as const) {
      const polls = pollsOf(mode, { ...digiflazzTraits, inquiryMaxAgeMs: hour }, () => 0);
      polls.forEach((at, index) => expect(at - (polls[index - 1] ?? 0)).to.be.at.least(minute));
    }
  });

  it('ends checks at Digiflazz long before the 90 days after which it would buy again', () => {
    expect(pollsOf('live', digiflazzTraits, () => 0).at(-1)).to.be.below(30 * 24 * hour);
  });
});
