// Whether bytes are text. As git does: a NUL among the first bytes means binary.

const SNIFFED_BYTES = 8000

export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, SNIFFED_BYTES).includes(0)
}
