/** Texts of the system page. */
export const system = {
  system: { en: 'System', id: 'Sistem' },
  notUpdated: { en: 'Not up to date', id: 'Belum diperbarui' },
  notUpdatedSince: {
    en: 'Data as of {time}. The last refresh failed: {why}',
    id: 'Data per {time}. Pembaruan terakhir gagal: {why}',
  },
  didNotAnswer: { en: 'The service did not respond.', id: 'Layanan tidak merespons.' },
  askDoctor: {
    en: 'To find the problem, run topup doctor.',
    id: 'Untuk mencari penyebabnya, jalankan topup doctor.',
  },
  systemChecks: { en: 'Checks', id: 'Pemeriksaan' },
  check: { en: 'Check', id: 'Pemeriksaan' },
  found: { en: 'Result', id: 'Hasil' },
  checksRunFirst: {
    en: 'The checks are running. This takes a few seconds.',
    id: 'Pemeriksaan sedang berjalan. Butuh beberapa detik.',
  },
  asOf: {
    en: 'As of {time}. The checks run again each time you open this page.',
    id: 'Per {time}. Pemeriksaan diulang setiap kali halaman ini dibuka.',
  },
  checksRunAgain: { en: 'The checks are running again.', id: 'Pemeriksaan sedang diulang.' },
  allWell: { en: 'All {count} checks passed.', id: 'Semua {count} pemeriksaan baik.' },
  checksWell: { en: '{count} more checks passed.', id: '{count} pemeriksaan lainnya baik.' },
  check_ok: { en: 'ok', id: 'baik' },
  check_warn: { en: 'warning', id: 'peringatan' },
  check_fail: { en: 'failed', id: 'gagal' },
  whatToDo: { en: 'What to do', id: 'Yang harus dilakukan' },
  alarms: { en: 'Active alarms', id: 'Alarm aktif' },
  noAlarm: {
    en: 'None, or ALERT_WEBHOOK_URL is not set.',
    id: 'Tidak ada, atau ALERT_WEBHOOK_URL belum diatur.',
  },
  alarmSent: { en: 'sent', id: 'terkirim' },
  alarmNotSent: { en: 'not sent yet', id: 'belum terkirim' },
  alarmRefused: { en: 'refused by the receiver: {why}', id: 'ditolak penerima: {why}' },
  failingJobs: { en: 'Failing jobs', id: 'Pekerjaan yang gagal' },
  noFailingJob: { en: 'None.', id: 'Tidak ada.' },
  rounds: { en: 'Failed runs', id: 'Jumlah gagal' },
  lastRound: { en: 'Last run', id: 'Terakhir dijalankan' },
  retryJob: { en: 'Retry job {job}', id: 'Coba lagi pekerjaan {job}' },
  retryJobHelp: {
    en: 'The job runs at once, and its failures are counted from zero. Fix the cause first.',
    id: 'Pekerjaan langsung dijalankan, dan kegagalannya dihitung dari nol. Perbaiki penyebabnya dulu.',
  },
};
