// A token issuer on this machine, following OpenID Connect: its configuration and its keys over HTTP.
import type { JWK, JWTPayload } from 'jose'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export const NOW_MS = Date.UTC(2026, 0, 1)

export interface SigningKey {
  readonly id: string
  readonly open: JWK
  sign(claims: JWTPayload): Promise<string>
}

/** Without `id`, neither the key nor its tokens name a key. */
export async function createSigningKey(id?: string, algorithm = 'ES256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true })
  const header = { alg: algorithm, ...(id !== undefined && { kid: id }) }
  return {
    id: id ?? '',
    open: { ...(await exportJWK(publicKey)), ...header },
    sign: async (claims) => await new SignJWT(claims).setProtectedHeader(header).sign(privateKey),
  }
}

export async function startIssuer(keys: readonly JWK[]) {
  const asked: string[] = []
  const state = { keys, status: 200, configuration: {} as object, body: undefined as string | undefined }
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const isKeys = request.url === '/keys'
    const configuration = { issuer: url, jwks_uri: `${url}/keys`, ...state.configuration }
    response.writeHead(state.status, {
      'content-type': 'application/json',
      ...(state.status === 302 && { location: '/' }),
    })
    response.end(isKeys ? (state.body ?? JSON.stringify({ keys: state.keys })) : JSON.stringify(configuration))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on an address
  const url = `http://127.0.0.1:${port}`
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => void server.close(resolve))
  }
  /** Claims of a fully valid token. */
  const claims = { iss: url, aud: 'shop', sub: 'ann', exp: NOW_MS / 1000 + 60 }
  return { url, state, asked, claims, close }
}

/** A clock that only the test moves. */
export function createStoppedClock() {
  let atMs = NOW_MS
  return {
    clock: { nowMs: () => atMs },
    pass: (ms: number) => {
      atMs += ms
    },
  }
}
