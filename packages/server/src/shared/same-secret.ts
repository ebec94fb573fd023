// Compares secrets that strangers may guess.
import { createHash, timingSafeEqual } from 'node:crypto'

/** Takes as long whatever the two have in common; of equal length by their hashes. */
export function isSameSecret(one: string, other: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(one), hash(other))
}
