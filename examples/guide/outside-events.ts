// A shop tells the session of a customer that an order was paid. It signs the event, as Standard Webhooks says.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { createHandler } from '@baton/server/http'
import { createHmac, randomBytes } from 'node:crypto'

const agent = defineAgent({
  name: 'shop',
  model: createScriptedModel({ steps: [{ text: 'Thank you: order A-1 is paid.' }] }),
  events: {
    'order.paid': {
      data: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    },
    'mail.received': { trust: 'untrusted' }, // strangers write it
  },
})
const host = createHost({ agent })
const session = await host.session('customer-7', { principal: { id: 'ann' } })

const key = randomBytes(32)
const handler = createHandler(host, {
  webhooks: {
    shop: { secret: `whsec_${key.toString('base64')}`, principal: { id: 'ann' }, kinds: ['order.paid'] },
  },
})

// The shop does this, and repeats it until it is answered.
async function send(id: string, event: object): Promise<Response> {
  const body = JSON.stringify(event)
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
  return await handler(
    new Request('http://localhost/api/sessions/customer-7/events', { method: 'POST', headers, body }),
  )
}

const paid = { type: 'order.paid', timestamp: new Date().toISOString(), data: { order: 'A-1' } }
console.log(await (await send('msg_1', paid)).json())
console.log(await (await send('msg_1', paid)).json())
console.log((await send('msg_2', { type: 'order.paid', data: {} })).status)
console.log((await session.turn('shop:msg_1').answer).text)
await host.stop()
