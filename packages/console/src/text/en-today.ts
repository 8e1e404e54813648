/** What the page of today says of the days before it. */
export const enToday = {
  atEndOf: 'at the end of {day} {value}',
  dayBefore: 'the 24 hours before: {value}',
  volumeOfDaysPlot: 'Purchases by the day, 30 days',
  successOfDaysPlot: 'Success rate by the day, 30 days',
} as const;
