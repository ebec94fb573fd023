// Digests in Node.
import { hash } from 'node:crypto'

/** SHA-256 in base64url. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** SHA-256 in hex of the bytes encoded in a base64 string. */
export function digestMedia(base64: string): string {
  return hash('sha256', Buffer.from(base64, 'base64'), 'hex')
}
