// A host tells another program that a call waits for a person and that the turn has ended. That program checks the
// signature, and takes a notice that is repeated once.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { webhook } from '@baton/notices/webhook'
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const key = randomBytes(32)
const seen = new Set<unknown>()
const receiver = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
  request.on('end', () => {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = request.headers
    const expected = createHmac('sha256', key)
      .update(`${String(id)}.${String(timestamp)}.${body}`)
      .digest()
    const isOurs = String(signatures)
      .split(' ')
      .map((one) => Buffer.from(one.slice('v1,'.length), 'base64'))
      .some((one) => one.length === expected.length && timingSafeEqual(one, expected))
    if (isOurs && !seen.has(id)) console.log(JSON.parse(body).type)
    if (isOurs) seen.add(id)
    response.writeHead(isOurs ? 204 : 401).end()
  })
}).listen(0, '127.0.0.1')
await new Promise((resolve) => receiver.on('listening', resolve))
const origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`

const pay = tool({
  name: 'pay',
  description: 'Pays an invoice',
  input: { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] },
  effect: 'once',
  approval: true,
  execute: () => 'paid',
})
const model = createScriptedModel({
  steps: [{ calls: [{ name: 'pay', arguments: { euros: 40 } }] }, { text: 'It is paid.' }],
})
const host = createHost({
  agent: defineAgent({ name: 'shop', model, tools: [pay] }),
  // `allow` is for this machine; an address on the internet needs none.
  notify: [webhook({ url: `${origin}/hooks`, secret: `whsec_${key.toString('base64')}`, allow: [origin] })],
})
const session = await host.session('ann')
const turn = session.send('Pay 40 euros.')
for await (const event of turn)
  if (event.type === 'approval-requested') await session.decide({ approvalId: event.approvalId, decision: 'approve' })
console.log((await turn.answer).text)
while (seen.size < 3) await new Promise((resolve) => setTimeout(resolve, 20))
await host.stop()
receiver.close()
