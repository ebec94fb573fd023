// Compares secrets that strangers may guess.
import { createHash, timingSafeEqual } from 'node:crypto'

/** Takes equally long whatever the two have in common. It compares hashes, so their lengths may differ. */
export function isSameSecret(one: string, other: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(one), hash(other))
}
