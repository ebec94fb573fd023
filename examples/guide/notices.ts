// A host tells another program that a call waits for a person and that the turn has ended. That program checks the
// signature, and takes a notice that is repeated once.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { webhook } from '@baton/notices/webhook'
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The other program. */
async function startReceiver(key: Buffer) {
  const seen = new Set<string>()
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      const [id = '', timestamp = '', signatures = ''] = ['id', 'timestamp', 'signature'].map((name) =>
        String(request.headersDistinct[`webhook-${name}`]?.[0]),
      )
      const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
      const isOurs = signatures
        .split(' ')
        .map((one) => Buffer.from(one.slice('v1,'.length), 'base64'))
        .some((one) => one.length === expected.length && timingSafeEqual(one, expected))
      response.writeHead(isOurs ? 204 : 401).end()
      if (!isOurs || seen.has(id)) return
      seen.add(id)
      const { type } = JSON.parse(body) as { type: string }
      console.log(type)
      if (type === 'turn.finished') end()
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { origin, ended, close: () => server.close() }
}

const key = randomBytes(32)
const receiver = await startReceiver(key)
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
  notify: [
    webhook({ url: `${receiver.origin}/hooks`, secret: `whsec_${key.toString('base64')}`, allow: [receiver.origin] }),
  ],
})
const session = await host.session('ann')
const turn = session.send('Pay 40 euros.')
for await (const event of turn)
  if (event.type === 'approval-requested') await session.decide({ approvalId: event.approvalId, decision: 'approve' })
console.log((await turn.answer).text)
await receiver.ended
await host.stop()
receiver.close()
