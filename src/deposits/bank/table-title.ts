/** Titles between the tables of a statement. */

const titleLengthMax = 80;
const heldPattern =
  /\b(?:tertunda|ditunda|ditahan|pending|held|hold|un(?:posted|booked|cleared|settled)|belum (?:di)?(?:buku|bukukan|posting)|not (?:yet )?(?:booked|posted)|blokir|diblokir|blocked|terjadwal|scheduled|menunggu|waiting|dalam proses|in (?:process|progress)|outstanding|authori[sz]ations?)\b/i;
const bookedPattern =
  /\b(?:dibukukan|terbukukan|booked|posted|settled|selesai|completed|mutasi|transaksi|transactions?|riwayat|history)\b/i;

export interface TableTitle {
  text: string;
  place: number;
}

/** Returns the only text of a row, if it can be a title: no figure, no balance, no sum. */
export function findTitle(cells: readonly string[]): TableTitle | null {
  const place = cells.findIndex((each) => each.trim() !== '');
  const text = (cells[place] ?? '').trim();
  const isAlone = cells.every((each, other) => other === place || each.trim() === '');
  const isTitle = isAlone && text.length <= titleLengthMax && /^\D+$/.test(text);
  return isTitle && !/saldo|balance|jumlah|total|amount/i.test(text) ? { text, place } : null;
}

/** True for the title of payments that the bank has not booked. */
export function isHeldTitle(title: string): boolean {
  return heldPattern.test(title);
}

/** True for the title of booked payments. */
export function isBookedTitle(title: string): boolean {
  return bookedPattern.test(title) && !isHeldTitle(title);
}
