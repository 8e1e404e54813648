import { PDFDocument, StandardFonts } from '@cantoo/pdf-lib';
import type { ReceiptLine } from './receipt-lines.js';
import { characterWidth, toLatin1, wrapText } from '../shared/printable.js';

const pointsPerMm = 72 / 25.4;
const margin = 6;
/** Font size in points at which a transaction id fits the narrowest paper. */
const standardFontSize = 7.5;
const lineHeight = 1.25;

/**
 * Draws a receipt as a PDF of the given paper width (decision 039). The height fits the content.
 * The same lines and time give the same bytes.
 */
export async function drawReceiptPdf(
  receipt: ReceiptLine[],
  { widthMm, at }: { widthMm: number; at: Date },
): Promise<Buffer> {
  const width = widthMm * pointsPerMm;
  const lines = receipt.flatMap(({ text, ...look }) => {
    const widest = (width - 2 * margin) / characterWidth;
    const shown = toLatin1(text);
    // Use the largest size up to 14 at which the text fits on one line.
    const size = look.isLarge ? Math.min(14, widest / shown.length) : standardFontSize;
    return wrapText(shown, Math.floor(widest / size)).map((part) => ({ ...look, text: part, size }));
  });
  const height = 2 * margin + lines.reduce((sum, { size }) => sum + size * lineHeight, 0);

  const pdf = await PDFDocument.create();
  pdf.setCreationDate(at);
  pdf.setModificationDate(at);
  const [plain, bold] = await Promise.all([
    pdf.embedFont(StandardFonts.Courier),
    pdf.embedFont(StandardFonts.CourierBold),
  ]);
  const page = pdf.addPage([width, height]);
  let y = height - margin;
  for (const { text, size, isBold = false, isLarge = false, isCentred = false } of lines) {
    y -= size * lineHeight;
    const x = isCentred || isLarge ? (width - text.length * size * characterWidth) / 2 : margin;
    page.drawText(text, { x, y, size, font: isBold || isLarge ? bold : plain });
  }
  return Buffer.from(await pdf.save({ useObjectStreams: false }));
}
