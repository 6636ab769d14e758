/** A position in the WAL, in bytes from its beginning: comparable within one timeline. */
export type Lsn = bigint;

const WRITTEN_LSN = /^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/i;
const HALF_DIGITS = 8;
const HALF_BITS = 32n;
const LSN_BITS = 64;
const HEX = 16;

/**
 * Reads a position as PostgreSQL writes it: `0/30E01B0`.
 *
 * @throws {TypeError} when the text is none.
 */
export function parseLsn(text: string): Lsn {
  if (!WRITTEN_LSN.test(text)) {
    throw new TypeError(`${JSON.stringify(text)} is not a WAL position such as "0/30E01B0".`);
  }
  const slash = text.indexOf('/');
  // At once: one comes with each write, and to calculate with such numbers takes longer.
  return BigInt(`0x${text.slice(0, slash)}${text.slice(slash + 1).padStart(HALF_DIGITS, '0')}`);
}

/**
 * Writes a position as PostgreSQL does: `0/30E01B0`.
 *
 * @throws {TypeError} when the number cannot be a position.
 */
export function formatLsn(lsn: Lsn): string {
  if (lsn !== BigInt.asUintN(LSN_BITS, lsn)) {
    throw new TypeError(`${lsn} is not a WAL position: it has more than 64 bits, or a sign.`);
  }
  const [high, low] = [lsn >> HALF_BITS, BigInt.asUintN(Number(HALF_BITS), lsn)];
  return `${high.toString(HEX)}/${low.toString(HEX)}`.toUpperCase();
}
