import type { ProviderOutcome } from './adapter.js';

/**
 * Texts that providers write where they have no serial number, as letters and digits in lower case.
 * A statement such as "sukses" is no serial number either. A provider's own texts are in its
 * settings (`topup provider set --serial-placeholder`).
 */
const placeholders: ReadonlySet<string> = new Set(
  [
    ['null', 'nil', 'none', 'na', 'nan', 'undefined', 'unknown', 'empty', 'blank', 'void', 'false', 'true'],
    ['no', 'nosn', 'noserial', 'noserialnumber', 'noref', 'notavailable', 'notfound', 'tba', 'tbd'],
    [
      'kosong',
      'tidakada',
      'tidakadasn',
      'tdkada',
      'belumada',
      'belumadasn',
      'belum',
      'snkosong',
      'snbelumada',
    ],
    ['tanpasn', 'nihil'],
    ['pending', 'wait', 'waiting', 'queued', 'queue', 'process', 'processing', 'processed', 'inprocess'],
    ['onprocess', 'inprogress', 'progress', 'accepted', 'submitted', 'received'],
    ['proses', 'diproses', 'prosess', 'sedangproses', 'sedangdiproses', 'dalamproses', 'masihproses'],
    ['masihdiproses', 'akandiproses', 'transaksidiproses', 'transaksisedangdiproses', 'transaksidalamproses'],
    ['transaksipending', 'menunggu', 'tunggu', 'mohontunggu', 'antri', 'antrian', 'dalamantrian', 'diterima'],
    ['ok', 'success', 'sukses', 'berhasil', 'transaksisukses', 'transaksiberhasil', 'done', 'selesai'],
    ['failed', 'fail', 'gagal', 'error', 'timeout', 'batal', 'refund', 'transaksigagal'],
    ['sn', 'serial', 'serialnumber', 'token', 'ref', 'voucher'],
  ].flat(),
);

/** Parts of statements that an order failed, and that it has no result yet. */
const failureWords = [
  ['gagal', 'failed', 'failure', 'refund', 'reject', 'ditolak', 'batal', 'cancel', 'reversed', 'reversal'],
  ['dikembalikan', 'timeout', 'expired', 'kadaluarsa', 'tidakditemukan', 'notfound'],
].flat();
const waitingWords = ['proses', 'process', 'progress', 'pending', 'tunggu', 'waiting', 'queue', 'antri'];

/** Blanks that `trim` keeps: control, zero-width and filler characters, and the empty Braille cell. */
const edgePattern =
  /^[\s\p{C}\p{Default_Ignorable_Code_Point}\u2800]+|[\s\p{C}\p{Default_Ignorable_Code_Point}\u2800]+$/gu;
const labelPattern = /^s\/?n\s*[:=]/i;
const notAlphanumericPattern = /[^\p{L}\p{N}]|\p{Default_Ignorable_Code_Point}/gu;

/**
 * Returns a serial number without blanks around it. Returns null if the text is none: it is blank,
 * has no letter or digit except 0, or is a placeholder.
 * @param own Further placeholders of this provider. Case, blanks and punctuation do not count.
 */
export function readSerialNumber(written: string | null, own: readonly string[] = []): string | null {
  const text = (written ?? '').replace(edgePattern, '');
  const key = toKey(text.replace(labelPattern, ''));
  const isPlaceholder =
    /^0*$/.test(key) || placeholders.has(key) || own.some((each) => each === text || isSameKey(each, key));
  return isPlaceholder ? null : text;
}

function isSameKey(own: string, key: string): boolean {
  const ownKey = toKey(own);
  return ownKey !== '' && ownKey === key;
}

function toKey(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(notAlphanumericPattern, '');
}

/**
 * True if a serial number proves a success that the provider did not state. Engines also write status
 * sentences in its place. So it needs a digit and no status word, and the message must not say that
 * the order failed.
 */
export function isProvenBySerialNumber(serialNumber: string | null, message: string): boolean {
  const key = toKey(serialNumber ?? '');
  const has = (words: string[], text: string) => words.some((word) => text.includes(word));
  return (
    /\p{N}/u.test(key) && !has([...failureWords, ...waitingWords], key) && !has(failureWords, toKey(message))
  );
}

/**
 * Reads the serial number of an outcome. A success that only a serial number would prove is pending
 * without one, so that the provider is queried again.
 */
export function settleSerialNumber(outcome: ProviderOutcome, own: readonly string[] = []): ProviderOutcome {
  if (outcome.outcome === 'pending') {
    return { ...outcome, serialNumber: readSerialNumber(outcome.serialNumber, own) };
  }
  if (outcome.outcome !== 'success') {
    return outcome;
  }
  const { needsSerialNumber = false, ...success } = outcome;
  const serialNumber = readSerialNumber(success.serialNumber, own);
  return needsSerialNumber && !isProvenBySerialNumber(serialNumber, success.message)
    ? { outcome: 'pending', code: success.code, message: success.message, serialNumber: null }
    : { ...success, serialNumber };
}
