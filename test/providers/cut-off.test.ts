import { expect } from 'chai';
import { isInCutOff } from '../../src/products/cut-off.js';

/**
 * Returns a time on a day in Asia/Jakarta (the BUSINESS_TIMEZONE), which is 7 hours ahead of UTC
 * all year.
 */
const jakarta = (time: string) => new Date(`2026-03-01T${time}:00+07:00`);

describe('cut-off windows', () => {
  const inside = (start: string, end: string, at: string) => isInCutOff({ start, end }, jakarta(at));

  it('include their start and exclude their end, in business time', () => {
    expect(inside('01:00', '02:30', '00:59')).to.equal(false);
    expect(inside('01:00', '02:30', '01:00')).to.equal(true);
    expect(inside('01:00', '02:30', '02:29')).to.equal(true);
    expect(inside('01:00', '02:30', '02:30')).to.equal(false);
  });

  it('may span midnight', () => {
    expect(inside('23:45', '00:15', '23:44')).to.equal(false);
    expect(inside('23:45', '00:15', '23:45')).to.equal(true);
    expect(inside('23:45', '00:15', '00:00')).to.equal(true);
    expect(inside('23:45', '00:15', '00:14')).to.equal(true);
    expect(inside('23:45', '00:15', '00:15')).to.equal(false);
  });

  it('are empty if start equals end or a time is invalid', () => {
    expect(inside('00:00', '00:00', '00:00')).to.equal(false);
    expect(inside('0:0', '0:0', '12:00')).to.equal(false);
    expect(inside('25:00', '26:00', '01:00')).to.equal(false);
    expect(isInCutOff(null, jakarta('00:00'))).to.equal(false);
  });
});
