/** Texts of the system page. */
export const system = {
  system: { en: 'System', id: 'Sistem' },
  notUpdated: { en: 'Not up to date', id: 'Belum diperbarui' },
  notUpdatedSince: {
    en: 'What is shown is of {time}. It was asked for again, in vain: {why}',
    id: 'Yang tampil adalah keadaan {time}. Ditanyakan lagi tanpa hasil: {why}',
  },
  didNotAnswer: { en: 'The service did not answer.', id: 'Layanan tidak menjawab.' },
  askDoctor: {
    en: 'At the command line, topup doctor says what is wrong.',
    id: 'Di baris perintah, topup doctor menjelaskan penyebabnya.',
  },
  systemChecks: { en: 'Checks', id: 'Pemeriksaan' },
  check: { en: 'Check', id: 'Pemeriksaan' },
  found: { en: 'Found', id: 'Hasil' },
  doctorLooks: {
    en: 'Doctor is looking. It takes a few seconds, as it looks twice at what seems to stand still.',
    id: 'Sedang diperiksa. Butuh beberapa detik: yang tampak berhenti diperiksa dua kali.',
  },
  asOf: {
    en: 'As of {time}. Each visit recalculates them.',
    id: 'Per {time}. Diperiksa ulang setiap kali dibuka.',
  },
  looksAgain: { en: 'Doctor is looking again.', id: 'Sedang diperiksa lagi.' },
  allWell: { en: 'All {count} checks are well.', id: 'Semua {count} pemeriksaan baik.' },
  checksWell: { en: '{count} more checks are well.', id: '{count} pemeriksaan lainnya baik.' },
  check_ok: { en: 'well', id: 'baik' },
  check_warn: { en: 'look at it', id: 'perlu dilihat' },
  check_fail: { en: 'does not work', id: 'tidak berfungsi' },
  whatToDo: { en: 'What to do', id: 'Yang harus dilakukan' },
  alarms: { en: 'Alarms that stand', id: 'Alarm yang berlaku' },
  noAlarm: {
    en: 'None, or nobody is told: ALERT_WEBHOOK_URL.',
    id: 'Tidak ada, atau tidak ada yang diberi tahu: ALERT_WEBHOOK_URL.',
  },
  isTold: { en: 'told', id: 'sudah diberitahukan' },
  isNotTold: { en: 'not told yet', id: 'belum diberitahukan' },
  isRefused: {
    en: 'the receiver did not take it: {why}',
    id: 'tidak diterima oleh penerima: {why}',
  },
  failingJobs: { en: 'Jobs that fail again and again', id: 'Pekerjaan yang gagal terus-menerus' },
  noFailingJob: { en: 'None.', id: 'Tidak ada.' },
  rounds: { en: 'Rounds', id: 'Putaran' },
  lastRound: { en: 'Last', id: 'Terakhir' },
  retryJob: { en: 'Run {job} again', id: 'Jalankan lagi {job}' },
  retryJobWhat: {
    en: 'It runs at once, and its rounds are counted from none. Mend the cause first.',
    id: 'Langsung dijalankan, dan putarannya dihitung dari nol. Perbaiki penyebabnya dulu.',
  },
};
