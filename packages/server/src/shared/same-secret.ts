// Compares secrets that strangers may try to guess.
import { createHash, timingSafeEqual } from 'node:crypto'

/** Takes the same time regardless of how much matches. Compares hashes, so the lengths may differ. */
export function isSameSecret(one: string, other: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(one), hash(other))
}
