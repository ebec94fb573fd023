// Users of a login service: one verifier for chats over HTTP and for WebSockets. Here the program signs a token itself,
// with a shared secret; for a service with public keys, omit `secret`.
import { createTokenVerifier } from '@baton/server/auth'
import { createHandler } from '@baton/server/http'
import { createWebSocketFront } from '@baton/server/websocket'
import { createHost } from '@baton/host'
import { SignJWT } from 'jose'

const secret = 'a secret of thirty-two bytes, or more'
const { authenticate } = createTokenVerifier({ issuer: 'https://login.example', audience: 'shop', secret })
const host = createHost()
const handler = createHandler(host, { authenticate })
const front = createWebSocketFront(host, { authenticate, port: 0 })

const token = await new SignJWT({ sub: 'ann' })
  .setProtectedHeader({ alg: 'HS256' })
  .setIssuer('https://login.example')
  .setAudience('shop')
  .setExpirationTime('5m')
  .sign(new TextEncoder().encode(secret))
for (const shown of [token, `${token}x`]) {
  const headers = { authorization: `Bearer ${shown}` }
  const response = await handler(new Request('https://shop.example/api/sessions', { headers }))
  console.log(response.status, await response.text())
}
await front.close()
await host.stop()
