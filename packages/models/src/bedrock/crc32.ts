// CRC-32 of ISO 3309, as in zip files, eight bytes at a time ("slicing by 8", Kounavis and Berry 2008). Implemented
// here because it beats a call into Node's zlib for frames of a few hundred bytes, and browsers have no zlib.

/** Unsigned checksum of the bytes from `start` up to, but not including, `end`. */
export function crc32(view: DataView, start: number, end: number): number {
  const tables = TABLES
  const lookUp = (zeros: number, byte: number): number => tables[(zeros << 8) | (byte & 255)] ?? 0
  let crc = -1
  let at = start
  for (; at + 8 <= end; at += 8) {
    const first = crc ^ view.getInt32(at, true)
    const last = view.getInt32(at + 4, true)
    crc =
      lookUp(7, first) ^
      lookUp(6, first >>> 8) ^
      lookUp(5, first >>> 16) ^
      lookUp(4, first >>> 24) ^
      lookUp(3, last) ^
      lookUp(2, last >>> 8) ^
      lookUp(1, last >>> 16) ^
      lookUp(0, last >>> 24)
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ lookUp(0, crc ^ view.getUint8(at))
  return ~crc >>> 0
}

/** Eight tables of 256 entries: the checksum of a byte followed by zero to seven zero bytes. */
const TABLES: Int32Array = createTables()

function createTables(): Int32Array {
  const tables = new Int32Array(8 * 256)
  for (let at = 0; at < tables.length; at++) {
    let value = tables[at - 256] ?? at
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
    tables[at] = value
  }
  return tables
}
