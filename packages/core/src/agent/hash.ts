// A short, stable name for a text. It distinguishes versions; it is not a security measure.

/** 64 bits as 16 hexadecimal digits: two FNV-1a hashes with different offsets. */
export function shortHash(text: string): string {
  return fnv1a(text, 0x811c9dc5) + fnv1a(text, 0x7ee3623a)
}

function fnv1a(text: string, offset: number): string {
  let hash = offset
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
