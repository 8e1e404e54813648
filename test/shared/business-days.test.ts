import { expect } from 'chai';
import { DateTime } from 'luxon';
import {
  formatBusinessDay,
  getBusinessDay,
  getBusinessDayByName,
  getEndOfDay,
  getStartOfDay,
  parseDays,
  parsePeriod,
} from '../../src/shared/business-time.js';
import { useSettings } from '../support/use-settings.js';

const hourMs = 3_600_000;

/** Zones whose clocks change at midnight, each with the year in which its days are walked. */
const zones: [zone: string, year: number][] = [
  ['Atlantic/Azores', 2026],
  ['America/Havana', 2028],
  ['Africa/Cairo', 2030],
  ['Asia/Beirut', 2032],
  ['America/Santiago', 2034],
];

for (const [zone, year] of zones) {
  describe(`business days in ${zone}`, () => {
    useSettings({ BUSINESS_TIMEZONE: zone });

    it('follow each other without a missing or a double hour', () => {
      const first = DateTime.fromISO(`${year}-01-01`, { zone: 'utc' });
      const days = Array.from({ length: 365 }, (_, index) => first.plus({ days: index }).toISODate() ?? '');
      let endedMs: number | undefined;
      for (const day of days) {
        const { startMs, endMs } = getBusinessDayByName(day);
        expect(startMs, `${day} begins where the day before ends`).to.equal((endedMs ?? startMs - 1) + 1);
        for (const at of [startMs, startMs + hourMs / 2, endMs - hourMs / 2, endMs]) {
          expect(formatBusinessDay(new Date(at)), `${day} at ${at}`).to.equal(day);
          expect(getBusinessDay(new Date(at))).to.include({ day, startMs, endMs });
        }
        endedMs = endMs;
      }
    });

    it('are the same in every filter', () => {
      for (const day of [
        `${year}-03-28`,
        `${year}-03-29`,
        `${year}-10-24`,
        `${year}-10-25`,
        `${year}-11-07`,
      ]) {
        const { startMs, endMs } = getBusinessDayByName(day);
        const [start, end] = [new Date(startMs), new Date(endMs)];
        expect([getStartOfDay(day), getEndOfDay(day)]).to.deep.equal([start, end]);
        expect(parsePeriod(day, day)).to.deep.equal({ start, end });
        expect(parseDays({ from: day, to: day })).to.deep.equal({ since: start, until: end });
      }
    });
  });
}

describe('the business day on which clocks go back over midnight', () => {
  useSettings({ BUSINESS_TIMEZONE: 'Atlantic/Azores' });

  it('has 25 hours, because its first hour occurs twice', () => {
    const { startMs, endMs } = getBusinessDayByName('2026-10-25');
    expect(new Date(startMs).toISOString()).to.equal('2026-10-25T00:00:00.000Z');
    expect(endMs + 1 - startMs).to.equal(25 * hourMs);
  });
});
