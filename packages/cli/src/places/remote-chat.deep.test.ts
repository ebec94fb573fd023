// A chat with a server of an older version, which sends nothing; the client notices after ten seconds.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createRemoteChat } from './remote-chat.ts'

/** The GUID of RFC 6455, section 1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

test('a server that speaks only version 1 is named as such', async () => {
  // Accepts any subprotocol and waits for the app's first frame.
  const server = createServer().on('upgrade', ({ headers }, socket) => {
    const accept = createHash('sha1').update(`${headers['sec-websocket-key']}${GUID}`).digest('base64')
    const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade']
    const protocol = `Sec-WebSocket-Protocol: ${headers['sec-websocket-protocol']}`
    socket.write([...lines, `Sec-WebSocket-Accept: ${accept}`, protocol, '', ''].join('\r\n'))
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a TCP server
  const url = `ws://127.0.0.1:${port}/ws`
  const askPerson = () => Promise.reject(new Error('nobody is there'))
  const partner = createRemoteChat({ url, token: undefined, askPerson, onNews: () => {} })
  await expect(partner.open('s', () => {})).rejects.toMatchObject({
    code: 'connection_failed',
    message: `the server at ${url}: the server did not say hello in baton.v2. Use a server of the same version.`,
  })
  server.close()
})
