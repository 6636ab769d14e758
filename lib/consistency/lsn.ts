/** A position in the WAL, in bytes from its beginning: comparable within one timeline. */
export type Lsn = bigint;

const WRITTEN_LSN = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i;
const HALF_BITS = 32n;
const LSN_BITS = 64;

/**
 * Reads a position as PostgreSQL writes it: `0/30E01B0`.
 *
 * @throws {TypeError} when the text is none.
 */
export function parseLsn(text: string): Lsn {
  const [, high, low] = WRITTEN_LSN.exec(text) ?? [];
  if (high === undefined || low === undefined) {
    throw new TypeError(`${JSON.stringify(text)} is not a WAL position such as "0/30E01B0".`);
  }
  return (BigInt(`0x${high}`) << HALF_BITS) | BigInt(`0x${low}`);
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
  return `${high.toString(16)}/${low.toString(16)}`.toUpperCase();
}
