import type { enToday } from './en-today.js';

export const idToday: Record<keyof typeof enToday, string> = {
  atEndOf: 'pada akhir {day} {value}',
  dayBefore: '24 jam sebelumnya: {value}',
  volumeOfDaysPlot: 'Transaksi per hari, 30 hari',
  successOfDaysPlot: 'Tingkat keberhasilan per hari, 30 hari',
};
