// The value of a button: a request, sealed so that users can neither read, guess nor change it, and each process of the app
// can open it. AES-256-GCM, with a key derived from the app's signing secret.
import { isJsonObject, parseJson } from '@baton/core/internal'

/** The request that a button decides. */
export interface Sealed {
  readonly session: string
  readonly approvalId: string
  /** The session's principal. */
  readonly owner: string
  /** Digest of the arguments that the message shows. */
  readonly digest: string
}

export interface ButtonSeal {
  seal(sealed: Sealed): Promise<string>
  /** Undefined for a value that was not sealed with these secrets. */
  open(value: string): Promise<Sealed | undefined>
}

const NONCE_BYTES = 12
const PURPOSE = new TextEncoder().encode('baton slack button 1')

/** The first secret seals; buttons of all of them open. */
export function createButtonSeal(secrets: readonly string[]): ButtonSeal {
  const keys = secrets.map(deriveKey)
  for (const key of keys) key.catch(() => {}) // the first use reports it
  return {
    seal: async (sealed) => {
      const { session, approvalId, owner, digest } = sealed
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
      const text = new TextEncoder().encode(JSON.stringify({ session, approvalId, owner, digest }))
      const [key] = keys
      if (!key) throw new Error('there is no secret')
      const body = await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce }, await key, text)
      return Buffer.concat([nonce, new Uint8Array(body)]).toString('base64url')
    },
    open: async (value) => {
      const bytes = new Uint8Array(Buffer.from(value, 'base64url'))
      if (bytes.length <= NONCE_BYTES) return undefined
      const [nonce, body] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES)]
      for (const key of keys) {
        const text = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: nonce }, await key, body).catch(() => undefined)
        const parsed = text && parseJson(new TextDecoder().decode(text))
        if (parsed?.ok && isJsonObject(parsed.value)) return parsed.value as unknown as Sealed // as it was sealed
      }
      return undefined
    },
  }
}

/** Digest of a call's arguments. */
export async function digestInput(input: unknown): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(input))))
  return Buffer.from(bytes.subarray(0, 16)).toString('base64url')
}

async function deriveKey(secret: string) {
  const raw = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), 'HKDF', false, ['deriveKey'])
  const how = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info: PURPOSE }
  return await crypto.subtle.deriveKey(how, raw, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}
